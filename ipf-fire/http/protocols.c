#include "http/protocols.h"

#include "absent.h"
#include "http/answer_limit.h"
#include "http/transport_state.h"

#include <stdio.h>
#include <string.h>

static struct transport *transport_of(const struct connection *c)
{
	return c->network->o.data;
}

/* ---- requests ---- */

void protocols_resend(struct transport *t, struct shelf *s)
{
	if (s->due || !s->held)
		return;
	s->due = true;
	s->users++;
	s->next_due = t->due;
	t->due = s;
}

void protocols_hold(struct transport *t, struct exchange *x)
{
	shelf_hold(x->shelf, x);
	t->held++;
}

static void give_exchange(struct transport *t, struct exchange *x)
{
	*(x->previous ? &x->previous->next : &t->in_flight) = x->next;
	if (x->next)
		x->next->previous = x->previous;
	x->job = NULL;
	x->next = t->spare;
	t->spare = x;
}

void protocols_end(struct transport *t, struct exchange *x, enum record_error kind, const char *why, int64_t at_ns)
{
	struct job *job = x->job;
	struct shelf *shelf = x->shelf;
	size_t target = x->target;
	exchange_end(x, kind, why, at_ns);
	answer_limit_ended(x, job);
	if (x->held) {
		shelf_release(shelf, x);
		t->held--;
	}
	if (x->opening) {
		struct connection *c = x->opening;
		c->opener = NULL;
		x->opening = NULL;
		/* others may wait for it */
		if (c->step != STEP_CLOSED && !shelf->held)
			protocols_close(c);
	}
	protocols_leave(x, job->error == RECORD_OK);
	give_exchange(t, x);
	t->pool.targets[target].busy--;
	balance_ended(t->balance, target);
	protocols_resend(t, shelf);
	shelf_leave(&t->pool, shelf);
	job_list_put(&t->ended, job);
}

/* ---- closing ---- */

static void forget_unwritten(struct connection *c)
{
	struct connection **at = &transport_of(c)->unwritten;
	while (c->unwritten && *at != c)
		at = &(*at)->unwritten_next;
	if (c->unwritten)
		*at = c->unwritten_next;
	c->unwritten = false;
}

void protocols_close(struct connection *c)
{
	if (c->step == STEP_CLOSED)
		return;
	struct transport *t = transport_of(c);
	forget_unwritten(c);
	protocols_resend(t, c->shelf);
	pool_gone(&t->pool, c); /* before it is in the list of closed ones */
	http2_free(c->h2);
	c->h2 = NULL;
	connection_close(c, true);
}

void protocols_close_all(struct transport *t)
{
	for (size_t fd = 0; fd < t->network.by_fd_count; fd++)
		if (t->network.by_fd[fd])
			protocols_close(t->network.by_fd[fd]);
}

/* A connection taking no more requests, and has none left, is closed. */
static void close_if_done(struct connection *c)
{
	if (c->step == STEP_OPEN && c->retired && !c->streams && !c->within)
		protocols_close(c);
}

/* ---- HTTP/2: out ---- */

static void forget_leaving(struct exchange *x)
{
	for (struct exchange **at = &x->connection->leaving; *at; at = &(*at)->leaving_next)
		if (*at == x) {
			*at = x->leaving_next;
			return;
		}
}

static void on_sent(void *stream)
{
	struct exchange *x = stream;
	x->leaving_next = x->connection->leaving;
	x->connection->leaving = x;
}

/* All the session has given out is written. */
static void mark_sent(struct connection *c)
{
	for (struct exchange *x; (x = c->leaving);) {
		c->leaving = x->leaving_next;
		exchange_sent(x);
	}
}

/* Ends all requests of a useless connection, and closes it. */
static void break_session(struct connection *c)
{
	struct transport *t = transport_of(c);
	char why[128];
	snprintf(why, sizeof why, "HTTP/2: %s", http2_error(c->h2) ? http2_error(c->h2) : "the session broke");
	pool_retire(&t->pool, c);
	c->within = true;
	while (c->exchanges) {
		c->exchanges->stream = -1;
		protocols_end(t, c->exchanges, RECORD_PROTOCOL, why, c->network->event_ns);
	}
	c->within = false;
	protocols_close(c);
}

/* Writes the session's output, and handles its new state. */
static void settle(struct connection *c)
{
	struct transport *t = transport_of(c);
	const char *bytes;
	int64_t len = 0;
	if (c->within || c->step != STEP_OPEN)
		return;
	while (connection_is_drained(c)) {
		c->within = true; /* a malformed response ends there */
		len = http2_output(c->h2, &bytes);
		c->within = false;
		if (len <= 0)
			break;
		if (connection_write(c, bytes, (size_t)len, (struct unsent){0}))
			mark_sent(c);
		else if (c->broken)
			break;
	}
	if (len < 0) {
		break_session(c);
		return;
	}
	if (http2_going_away(c->h2))
		pool_retire(&t->pool, c);
	close_if_done(c);
}

static void on_drained(struct connection *c)
{
	if (c->h2) {
		mark_sent(c);
		settle(c);
	} else if (c->exchanges) {
		exchange_sent(c->exchanges);
	}
}

/* ---- sending, leaving ---- */

void protocols_send(struct exchange *x, struct connection *c)
{
	struct transport *t = transport_of(c);
	exchange_send(x, c);
	if (x->no_memory) {
		protocols_end(t, x, RECORD_CANCELLED, "out of memory", network_now(c->network));
	} else if (c->h2 && !c->unwritten) {
		c->unwritten = true;
		c->unwritten_next = t->unwritten;
		t->unwritten = c;
	}
}

void protocols_flush(struct transport *t)
{
	for (struct connection *c; (c = t->unwritten);) {
		t->unwritten = c->unwritten_next;
		c->unwritten = false;
		settle(c);
	}
}

static void leave_connection(struct exchange *x)
{
	struct connection *c = x->connection;
	*(x->on_previous ? &x->on_previous->on_next : &c->exchanges) = x->on_next;
	if (x->on_next)
		x->on_next->on_previous = x->on_previous;
	forget_leaving(x);
	if (x->stream >= 0)
		http2_cancel(c->h2, x->stream);
	x->stream = -1;
	x->connection = NULL;
}

void protocols_leave(struct exchange *x, bool whole)
{
	struct connection *c = x->connection;
	if (!c)
		return;
	struct transport *t = x->transport;
	bool fresh = t->options->connections.kind == CONNECTION_POLICY_FRESH;
	leave_connection(x);
	if (fresh || (!c->h2 && (!whole || !c->reader.keep || !connection_is_drained(c))))
		pool_retire(&t->pool, c);
	pool_give_back(&t->pool, c);
	if (c->h2)
		settle(c);
	close_if_done(c);
}

/* ---- HTTP/2: in ---- */

/* The server has not looked at the request. It goes on another connection, or on this one if it has room now; this time
 * is part of the request's time. */
static void resend(struct exchange *x)
{
	struct job *job = x->job;
	job->sent_ns = job->left_ns = job->first_byte_ns = job->connection = IPF_ABSENT;
	job->dns_ns = job->connect_ns = job->tls_ns = job->connected_ns = IPF_ABSENT;
	protocols_leave(x, true);
	protocols_hold(x->transport, x);
	protocols_resend(x->transport, x->shelf);
}

static void send_refused(struct exchange *x)
{
	struct transport *t = x->transport;
	struct connection *c = x->connection;
	struct job *job = x->job;
	if (job->stream_resets != IPF_ABSENT && job->stream_resets >= REFUSALS_MAX) {
		protocols_end(t, x, RECORD_RESET, "HTTP/2 stream reset 100 times", c->at.t_ns);
		return;
	}
	/* refused although there should be room: it is not known how much there is */
	if (!http2_settled(c->h2) || c->streams <= http2_streams_most(c->h2))
		pool_retire(&t->pool, c);
	job->stream_resets = job->stream_resets == IPF_ABSENT ? 1 : job->stream_resets + 1;
	resend(x);
}

/* A kept connection the server had closed. */
static void send_unseen(struct exchange *x)
{
	const struct connection *c = x->connection;
	int64_t idle = x->job->start_ns - c->idle_ns;
	x->job->stale_idle_ns = idle > 0 ? idle : 0;
	x->connection_from = atomic_load(c->network->o.numbers);
	resend(x);
}

static void on_stream_end(void *stream, enum http2_end how, uint32_t code)
{
	struct exchange *x = stream;
	struct connection *c = x->connection;
	char why[96];
	x->stream = -1;
	switch (how) {
	case HTTP2_COMPLETE:
		protocols_end(x->transport, x, RECORD_OK, "", c->at.t_ns);
		return;
	case HTTP2_UNSEEN:
		send_refused(x);
		return;
	case HTTP2_RESET:
		snprintf(why, sizeof why, "the server reset the stream: %s", http2_code_name(code));
		protocols_end(x->transport, x, RECORD_RESET, why, c->at.t_ns);
		return;
	case HTTP2_MALFORMED:
		protocols_end(x->transport, x, RECORD_PROTOCOL, "the response breaks the rules of HTTP/2", c->at.t_ns);
		return;
	case HTTP2_TOO_LARGE:
		protocols_end(x->transport, x, RECORD_TOO_LARGE, "the response's headers exceed 256 KiB", c->at.t_ns);
		return;
	case HTTP2_STOPPED:
		protocols_end(x->transport, x, RECORD_CANCELLED, "", c->at.t_ns);
	}
}

static const struct http2_sink http2_sink = {exchange_status, exchange_header, exchange_body, on_sent, on_stream_end};

/* How many streams the server takes: for this connection, and those to come. */
static void read_settings(struct connection *c)
{
	struct transport *t = transport_of(c);
	struct pool_target *p = &t->pool.targets[c->target];
	uint32_t most = http2_streams_most(c->h2);
	if (!http2_settled(c->h2))
		return;
	p->max_streams = most == UINT32_MAX ? 0 : most ? most : 1;
	pool_update(&t->pool, c);
	protocols_resend(t, c->shelf);
}

static void input_http2(struct connection *c, const char *bytes, size_t len)
{
	c->within = true;
	bool good = http2_input(c->h2, bytes, len);
	c->within = false;
	if (!good) {
		break_session(c);
		return;
	}
	read_settings(c);
	settle(c);
}

/* ---- HTTP/1.1: in ---- */

static const struct http1_sink http1_sink = {
	.status = exchange_status, .header = exchange_header, .body = exchange_body};

static void input_http1(struct connection *c, const char *bytes, size_t len)
{
	struct exchange *x = c->exchanges;
	struct transport *t = transport_of(c);
	size_t used = 0;
	char why[160];
	if (!x) { /* a "408 Request Timeout" before the server closes it, or bytes beyond a response's length */
		protocols_close(c);
		return;
	}
	exchange_answered(x);
	switch (http1_read(&c->reader, bytes, len, &used, &http1_sink, x)) {
	case HTTP1_MORE:
	case HTTP1_CUT:
		return;
	case HTTP1_COMPLETE:
	case HTTP1_UPGRADED: /* never asked for */
		if (used < len)
			c->reader.keep = false;
		protocols_end(t, x, RECORD_OK, "", c->at.t_ns);
		return;
	case HTTP1_MALFORMED:
		snprintf(why, sizeof why, "%s (byte %llu of the response)", c->reader.why,
		         (unsigned long long)c->reader.offset);
		protocols_end(t, x, RECORD_PROTOCOL, why, c->at.t_ns);
		return;
	case HTTP1_TOO_LARGE:
		protocols_end(t, x, RECORD_TOO_LARGE, "the response's headers exceed 256 KiB", c->at.t_ns);
		return;
	case HTTP1_NO_MEMORY:
		x->no_memory = true;
		/* fall through */
	case HTTP1_STOPPED:
		protocols_end(t, x, RECORD_CANCELLED, "", c->at.t_ns);
	}
}

static void on_input(struct connection *c, const char *bytes, size_t len)
{
	if (c->h2)
		input_http2(c, bytes, len);
	else
		input_http1(c, bytes, len);
}

/* ---- connections ---- */

static bool speaks_http2(const struct connection *c)
{
	const struct connection_policy *p = &transport_of(c)->options->connections;
	return p->http == HTTP_2_PRIOR || (p->http == HTTP_2 && (!c->tls || tls_is_h2(c->tls)));
}

static void on_opened(struct connection *c)
{
	struct transport *t = transport_of(c);
	struct exchange *x = c->opener;
	bool http2 = speaks_http2(c);
	if (http2 && http2_open(&c->h2, &http2_sink) < 0) {
		protocols_failed(c, RECORD_CANCELLED, "out of memory");
		return;
	}
	if (t->options->connections.http == HTTP_2)
		t->pool.targets[c->target].http1_only = !http2;
	c->opener = NULL;
	if (x)
		x->opening = NULL;
	c->streams = x ? 1 : 0;
	pool_opened(&t->pool, c);
	protocols_resend(t, c->shelf);
	if (x)
		protocols_send(x, c);
	else if (http2)
		settle(c);
}

void protocols_failed(struct connection *c, enum record_error kind, const char *why)
{
	struct transport *t = transport_of(c);
	struct exchange *x = c->opener;
	c->opener = NULL;
	if (x)
		x->opening = NULL;
	protocols_close(c);
	if (x)
		protocols_end(t, x, kind, why, network_now(c->network));
	else
		snprintf(t->failed_text, sizeof t->failed_text, "%s", why);
}

static void end_broken(struct exchange *x, enum connection_end how, const char *why, int64_t now)
{
	char text[256];
	enum record_error kind = exchange_broken(x, how, why, now, text);
	protocols_end(x->transport, x, kind, text, now);
}

static void on_ended(struct connection *c, enum connection_end how, const char *why)
{
	struct transport *t = transport_of(c);
	int64_t now = c->network->event_ns;
	pool_retire(&t->pool, c);
	if (!c->h2 && c->exchanges && how == CONNECTION_FINISHED && http1_closed(&c->reader) == HTTP1_COMPLETE)
		protocols_end(t, c->exchanges, RECORD_OK, "", now);
	c->within = true;
	while (c->exchanges) {
		c->exchanges->stream = -1;
		if (exchange_unseen(c->exchanges, now))
			send_unseen(c->exchanges);
		else
			end_broken(c->exchanges, how, why, now);
	}
	c->within = false;
	protocols_close(c);
}

const struct connection_owner protocols_owner = {on_opened, protocols_failed, on_input, on_drained, on_ended};
