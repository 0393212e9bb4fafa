#include "http/exchange.h"

#include "absent.h"
#include "clock.h"
#include "http/answer_limit.h"
#include "http/http1_request.h"
#include "http/transport_state.h"
#include "job/spare_jobs.h"
#include "version.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

_Static_assert(REFUSALS_MAX == 100, "the error text names the number");

#define STALE_NS   (2 * NS_PER_MS)    /* in addition to two round trips */
#define SMALL_BODY ((size_t)16 << 10) /* is copied behind its head: cheaper than a message of two parts */

static const char user_agent[] = "ipf-fire/" IPF_VERSION;

/* ---- sending ---- */

/* The URL of the request if it has its own; NULL: the origin's. */
static const char *own_url(const struct exchange *x)
{
	const char *url = x->job->url;
	for (size_t i = 0; url && i < x->target; i++)
		url += strlen(url) + 1;
	return url;
}

/* The headers with the signature, which is made now because it is valid only for minutes. The caller frees them. NULL:
 * out of memory. */
static struct curl_slist *sign(const struct exchange *x, const struct curl_slist *list)
{
	const struct endpoint *e = x->transport->endpoint;
	const char *url = own_url(x);
	const struct signed_request request = {.method = e->method,
	                                       .url = url ? url : e->targets[x->target].url,
	                                       .body = buffer_all(&x->job->request.text),
	                                       .body_sha256 = request_body_sha256(&x->job->request),
	                                       .now = time(NULL)};
	struct curl_slist *all = signer_headers(e->signer, &request);
	for (; list && all; list = list->next)
		if (!curl_slist_append(all, list->data)) {
			curl_slist_free_all(all);
			return NULL;
		}
	return all;
}

static struct http1_request http1_request_of(const struct exchange *x, const struct origin *o,
                                             const struct curl_slist *headers)
{
	const char *url = own_url(x);
	bool forwarded = o->route == ROUTE_FORWARD;
	return (struct http1_request){.method = x->transport->endpoint->method,
	                              .target = forwarded ? slice_of(url ? url : o->url)
	                                        : url     ? origin_path_of(url)
	                                                  : o->path,
	                              .host = slice_of(o->authority),
	                              .authorization = slice_of(o->authorization),
	                              .proxy_authorization = forwarded ? slice_of(o->proxy_authorization)
	                                                               : (struct slice){0},
	                              .forwarded = forwarded,
	                              .user_agent = {user_agent, sizeof user_agent - 1},
	                              .headers = headers,
	                              .body_bytes = request_body_len(&x->job->request)};
}

/* The head of requests differing in their bodies only. false: it differs otherwise. */
static bool usual_head(struct exchange *x, const struct curl_slist *headers)
{
	struct transport *t = x->transport;
	struct origin *o = &t->origins[x->target];
	if (headers != t->endpoint->headers || x->job->url)
		return false;
	if (!o->head.len) {
		struct http1_request q = http1_request_of(x, o, headers);
		if (http1_request_frames_itself(&q))
			return false;
		http1_request_begin(&q, &o->head);
		if (o->head.failed) {
			buffer_release(&o->head);
			return false;
		}
	}
	buffer_slice(&t->head, buffer_all(&o->head));
	http1_request_length(t->endpoint->method, request_body_len(&x->job->request), &t->head);
	return true;
}

/* Copies all of it; then nothing is left. */
static bool copy_body(struct unsent *body, struct buffer *to)
{
	size_t len = unsent_len(body);
	char *at = buffer_reserve(to, len);
	if (!at || unsent_read(body, at, len) < 0)
		return false;
	at[len] = '\0';
	to->len += len;
	unsent_advance(body, len);
	return true;
}

static void send_http1(struct exchange *x, struct connection *c, const struct curl_slist *headers)
{
	struct transport *t = x->transport;
	struct unsent body = request_body_unsent(&x->job->request);
	struct slice after = {0};
	buffer_clear(&t->head);
	if (!usual_head(x, headers)) {
		struct http1_request q = http1_request_of(x, c->origin, headers);
		after = http1_request_head(&q, &t->head);
	}
	bool copied = true;
	if ((!body.mixed && body.text.len <= SMALL_BODY) || after.len) { /* `after`, seldom: in chunks */
		copied = copy_body(&body, &t->head);
		buffer_slice(&t->head, after);
	}
	if (t->head.failed || !copied) {
		x->no_memory = true;
		return;
	}
	http1_begin(&c->reader, !strcmp(t->endpoint->method, "HEAD"));
	if (connection_write(c, t->head.data, t->head.len, body))
		exchange_sent(x);
}

static void send_http2(struct exchange *x, struct connection *c, const struct curl_slist *headers)
{
	const struct origin *o = c->origin;
	const char *url = own_url(x);
	struct http2_request q = {.method = x->transport->endpoint->method,
	                          .scheme = o->tls ? "https" : "http",
	                          .authority = slice_of(o->authority),
	                          .path = url ? origin_path_of(url) : o->path,
	                          .headers = headers,
	                          .authorization = slice_of(o->authorization),
	                          .user_agent = {user_agent, sizeof user_agent - 1},
	                          .body = request_body_unsent(&x->job->request)};
	x->stream = http2_request(c->h2, x, &q);
	x->no_memory = x->stream < 0;
}

/* The connection's members of the record. The phases are those of the request it was opened for. */
static void note_connection(struct exchange *x, struct connection *c)
{
	struct job *job = x->job;
	job->connection = c->id;
	job->reused = c->existed;
	job->resumed = !c->existed && c->tls && tls_is_resumed(c->tls);
	job->http = c->h2 ? 2 : IPF_ABSENT;
	if (x->transport->options->connections.http != HTTP_1_1)
		job->connected_ns = network_now(c->network);
	if (!c->existed && c->begin_ns >= job->start_ns) {
		job->dns_ns = c->dns_ns;
		job->connect_ns = c->connect_ns;
		job->tls_ns = c->tls_ns;
	}
	c->existed = true;
	keep_alive_sent(&c->keep_alive);
}

static bool append(struct curl_slist **list, const char *line)
{
	struct curl_slist *longer = curl_slist_append(*list, line);
	if (longer)
		*list = longer;
	return longer;
}

/* Sets headers of this request alone, if it needs any: the signature, and the session's token. false: out of memory. */
static bool own_headers(struct exchange *x, const struct curl_slist *list, struct curl_slist **own)
{
	struct transport *t = x->transport;
	struct session_tokens *tokens = t->options->session_tokens;
	bool good = true;
	*own = NULL;
	if (t->endpoint->signer && !(*own = sign(x, list)))
		return false;
	if (!tokens || !session_tokens_line(tokens, x->job->session, &t->token))
		return true;
	for (; list && good && !t->endpoint->signer; list = list->next)
		good = append(own, list->data);
	return good && append(own, t->token.data);
}

void exchange_send(struct exchange *x, struct connection *c)
{
	const struct endpoint *e = x->transport->endpoint;
	const struct curl_slist *headers = x->job->headers_sent || e->varying ? x->job->headers_sent : e->headers;
	struct curl_slist *own;
	const bool good = own_headers(x, headers, &own);
	x->connection = c;
	x->on_previous = NULL;
	x->on_next = c->exchanges;
	if (x->on_next)
		x->on_next->on_previous = x;
	c->exchanges = x;
	x->no_memory = !good;
	note_connection(x, c);
	if (!x->no_memory && c->h2)
		send_http2(x, c, own ? own : headers);
	else if (!x->no_memory)
		send_http1(x, c, own ? own : headers);
	curl_slist_free_all(own);
}

/* When the kernel sent the last byte of the connection. This is the request's last byte as long as no other request is
 * sent on it. */
static void note_left(struct exchange *x)
{
	const struct connection *c = x->connection;
	int64_t left = c->times.sent_ns - c->network->zero_ns;
	if (c->times.sends && c->times.sent_ns && left >= x->job->start_ns)
		x->job->left_ns = left;
}

/* Releases the request, unless it may have to be sent again. */
static void release_request(struct exchange *x)
{
	struct job *job = x->job;
	if (x->transport->options->keep_requests || x->connection->h2 || job->sent_ns == IPF_ABSENT ||
	    (job->reused && job->first_byte_ns == IPF_ABSENT))
		return;
	job_sent(job, x->transport->pool.targets[x->target].busy <= SPARE_JOBS_MOST);
	if (x->transport->options->memory)
		job_count_memory(job, x->transport->options->memory, x->transport->options->thread);
}

void exchange_sent(struct exchange *x)
{
	x->job->sent_ns = network_now(x->connection->network);
	note_left(x);
	release_request(x);
}

/* ---- receiving ---- */

/* The last known time before the request could be sent. */
static int64_t opened_ns(const struct job *job)
{
	int64_t connection = greater_of(greater_of(job->connect_ns, job->tls_ns), job->connected_ns);
	return greater_of(job->start_ns, connection);
}

void exchange_answered(struct exchange *x)
{
	struct job *job = x->job;
	struct connection *c = x->connection;
	if (job->first_byte_ns != IPF_ABSENT)
		return;
	/* no answer comes before the request, but a server can send bytes that are taken for one */
	if (c->at.t_ns < opened_ns(job)) {
		timestamps_reject(c->network->timestamps, &c->times);
		c->at.t_ns = c->at.own_ns;
	}
	job->first_byte_ns = c->at.t_ns;
	c->kept = false;
	/* sent_ns was read after the call that sent; the response may have arrived before */
	if (job->sent_ns != IPF_ABSENT && job->sent_ns > job->first_byte_ns)
		job->sent_ns = job->first_byte_ns;
	if (job->left_ns == IPF_ABSENT && job->sent_ns != IPF_ABSENT && !c->h2)
		note_left(x); /* the timestamp arrived after the send */
	if (job->left_ns != IPF_ABSENT && job->left_ns > job->first_byte_ns)
		job->left_ns = IPF_ABSENT;
	release_request(x);
	run_observer_first_byte(x->transport->options->observer, job);
}

void exchange_status(void *exchange, int status)
{
	struct exchange *x = exchange;
	exchange_answered(x);
	x->job->status = status;
	response_headers_forget(x->job); /* those of an interim response */
}

void exchange_header(void *exchange, struct slice name, struct slice value)
{
	struct exchange *x = exchange;
	struct transport *t = x->transport;
	response_headers_note(x->job, t->options->record_headers, name, value);
	if (t->options->session_tokens)
		session_tokens_note(t->options->session_tokens, x->job->session, name, value);
	if (x->job->status >= 300)
		retry_after_note(&x->job->asked, name, value);
	if (name.len == 4 && !strncasecmp(name.data, "date", 4))
		response_headers_date(x->job, &t->date, value, x->connection->at.t_ns);
	else if (name.len == 10 && !x->connection->h2 && !strncasecmp(name.data, "keep-alive", 10))
		keep_alive_read(&x->connection->keep_alive, value);
}

bool exchange_body(void *exchange, const char *bytes, size_t len)
{
	struct exchange *x = exchange;
	const struct timestamp *at = &x->connection->at;
	if (x->cancelled || x->no_memory)
		return false;
	size_t room = answer_limit_room(x, len);
	if (job_received(x->job, bytes, room, at->t_ns, at->own_ns) < 0) {
		x->no_memory = true;
		return false;
	}
	run_observer_received(x->transport->options->observer, x->job, at->t_ns, (struct slice){bytes, room});
	return answer_limit_grown(x) && !x->cancelled;
}

/* ---- how it ends ---- */

void exchange_end(struct exchange *x, enum record_error kind, const char *why, int64_t at_ns)
{
	struct job *job = x->job;
	/* the bytes that end it can have come before the request was sent: a damaged record of TLS, frames of HTTP/2 */
	int64_t last = greater_of(greater_of(opened_ns(job), job->sent_ns), job->first_byte_ns);
	if (job->reads_count)
		last = greater_of(last, job->reads[job->reads_count - 1].t_ns);
	job->end_ns = greater_of(at_ns, last);
	if (x->cancelled)
		job_fail(job, x->cancelled_as, x->cancelled);
	else if (x->no_memory && kind != RECORD_OK)
		job_fail(job, RECORD_CANCELLED, "out of memory");
	else
		job_fail(job, kind, kind == RECORD_OK ? "" : why);
	if (job->asked.rank)
		job->retry_after_ns = retry_after_ns(&job->asked, job->date_s == IPF_ABSENT ? time(NULL) : job->date_s);
	if (job->status < 200 && job->status != IPF_ABSENT) /* an interim response's, and no other came */
		job->status = IPF_ABSENT;
}

/* Its end answered the first packet of the request. An end coming later is that of a request the server was
 * processing. */
static bool is_stale(const struct exchange *x, int64_t at_ns)
{
	const struct connection *c = x->connection;
	int64_t sent = x->job->sent_ns == IPF_ABSENT ? x->job->start_ns : x->job->sent_ns;
	int64_t round_trip = c->connect_ns == IPF_ABSENT ? 0 : c->connect_ns - c->begin_ns;
	return at_ns - sent <= 2 * round_trip + STALE_NS;
}

bool exchange_unseen(const struct exchange *x, int64_t at_ns)
{
	const struct job *job = x->job;
	return x->connection->kept && job->first_byte_ns == IPF_ABSENT && job->stale_idle_ns == IPF_ABSENT &&
	       !x->cancelled && is_stale(x, at_ns);
}

enum record_error exchange_broken(struct exchange *x, enum connection_end how, const char *why, int64_t at_ns,
                                  char text[256])
{
	static const enum record_error kinds[] = {[CONNECTION_FINISHED] = RECORD_CUT,
	                                          [CONNECTION_CUT] = RECORD_CUT,
	                                          [CONNECTION_BROKEN] = RECORD_RESET,
	                                          [CONNECTION_TLS] = RECORD_TLS};
	struct job *job = x->job;
	bool answered = job->first_byte_ns != IPF_ABSENT;
	if (!x->connection->kept || answered) {
		snprintf(text, 256, "%s %s", why, answered ? "within the response" : "before a response");
		/* with TLS 1.3 a server refuses our certificate after the handshake; later errors break the connection */
		return how == CONNECTION_TLS && answered ? RECORD_RESET : kinds[how];
	}
	job->stale = is_stale(x, at_ns);
	snprintf(text, 256, "%s",
	         job->stale ? "the server had closed the kept connection" : "the kept connection broke before a response");
	return RECORD_RESET;
}
