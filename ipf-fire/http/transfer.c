#include "http/transfer.h"

#include "absent.h"
#include "clock.h"
#include "json/jout.h"
#include "redact.h"
#include "version.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- libcurl's callbacks ---- */

static bool takes_more(const struct transfer *x)
{
	return x->job && !x->no_memory && !x->cancelled;
}

/* The kernel's timestamp of the connection's last read. The bytes that libcurl passes on arrived with that read, or
 * earlier. */
static const struct timestamp *kernel_timestamp(const struct transfer *x)
{
	const struct transfer_setup *s = x->setup;
	const struct timestamp *read = timestamps_of(s->timestamps, x->fd);
	if (read && read->t_ns - s->zero_ns < x->job->start_ns)
		timestamps_reject(s->timestamps, x->fd); /* no response arrives before the request */
	return read;
}

/* The time of the last read, if known: the kernel's, or else our clock right after it. */
bool transfer_last_read(const struct transfer *x, int64_t *t_ns, int64_t *own_ns)
{
	const struct transfer_setup *s = x->setup;
	const struct timestamp *read = kernel_timestamp(x);
	int64_t own = read ? read->own_ns : timestamps_own(s->timestamps, x->fd);
	if (own == IPF_ABSENT)
		return false;
	*t_ns = (read ? read->t_ns : own) - s->zero_ns;
	*own_ns = own - s->zero_ns;
	return true;
}

/* The time of the bytes that libcurl passes on. If the same call also sent the request, that was after the send. */
static void time_of_bytes(struct transfer *x, int64_t *t_ns, int64_t *own_ns)
{
	struct transfer_setup *s = x->setup;
	if (transfer_last_read(x, t_ns, own_ns))
		return;
	if (x->job->sent_ns != IPF_ABSENT && s->t_ns < x->job->sent_ns)
		s->t_ns = s->own_ns = clock_now() - s->zero_ns;
	*t_ns = s->t_ns;
	*own_ns = s->own_ns;
}

static size_t on_body(char *data, size_t size, size_t count, void *user)
{
	struct transfer *x = user;
	int64_t t_ns, own_ns;
	if (!takes_more(x))
		return 0;
	time_of_bytes(x, &t_ns, &own_ns);
	if (job_received(x->job, data, x->setup->room(x, size * count), t_ns, own_ns) < 0) {
		x->no_memory = true;
		return 0;
	}
	return x->setup->grown(x) && !x->cancelled ? size * count : 0;
}

/* How much of a response header is recorded. */
enum kept { KEPT_NOT, KEPT_NAME, KEPT_VALUE };

static enum kept kept(const struct string_list *names, const char *line, size_t len)
{
	enum kept kept = KEPT_NOT;
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->items[i], "*"))
			kept = redact_header_is_public(line, len) ? KEPT_VALUE : kept > KEPT_NAME ? kept : KEPT_NAME;
		else if (strlen(names->items[i]) == len && !strncasecmp(names->items[i], line, len))
			return redact_header_is_credential(line, len) ? KEPT_NAME : KEPT_VALUE;
	return kept;
}

static struct slice trimmed(const char *text, size_t len)
{
	while (len && (*text == ' ' || *text == '\t')) {
		text++;
		len--;
	}
	while (len && strchr(" \t\r\n", text[len - 1]))
		len--;
	return (struct slice){text, len};
}

static void keep_header(struct job *job, const char *line, size_t name, struct slice value)
{
	char key[128];
	struct jout w = {.out = &job->headers};
	if (name + 4 > sizeof key)
		return;
	for (size_t i = 0; i < name; i++)
		key[i] = (char)(line[i] >= 'A' && line[i] <= 'Z' ? line[i] | 32 : line[i]);
	char member[sizeof key + 4];
	int len_member = snprintf(member, sizeof member, "\"%.*s\":", (int)name, key);
	if (job->headers.len && memmem(job->headers.data, job->headers.len, member, (size_t)len_member))
		return; /* keep the first of several headers with the same name */
	if (job->headers.len)
		buffer_byte(&job->headers, ',');
	buffer_append(&job->headers, member, (size_t)len_member);
	jout_string(&w, value);
}

/* The value of a header without the secrets of URLs in it. */
static void keep_value(struct job *job, const char *line, size_t name, size_t len)
{
	struct slice value = trimmed(line + name + 1, len - name - 1);
	struct buffer clean = {0};
	char *text = memmem(value.data, value.len, "://", 3) ? slice_dup(value) : NULL;
	if (text) {
		redact_value(text, &clean);
		value = clean.failed ? slice_of(REDACTED) : buffer_all(&clean);
	}
	keep_header(job, line, name, value);
	buffer_release(&clean);
	free(text);
}

/* Notes when the kernel sent the last byte of the connection. This is the request's last byte as long as no other
 * request is sent on it. */
static void note_left(struct transfer *x)
{
	struct job *job = x->job;
	int64_t left = timestamps_sent(x->setup->timestamps, x->fd);
	if (left != IPF_ABSENT && left - x->setup->zero_ns >= job->start_ns)
		job->left_ns = left - x->setup->zero_ns;
}

static void note_first_byte(struct transfer *x)
{
	struct job *job = x->job;
	int64_t own_ns;
	if (job->first_byte_ns != IPF_ABSENT)
		return;
	time_of_bytes(x, &job->first_byte_ns, &own_ns);
	/* sent_ns was read after the call that sent; the response may have arrived before */
	if (job->sent_ns != IPF_ABSENT && job->sent_ns > job->first_byte_ns)
		job->sent_ns = job->first_byte_ns;
	if (job->left_ns == IPF_ABSENT && connection_policy_streams(&x->setup->options->connections) == 1)
		note_left(x); /* the timestamp arrived after the send */
	if (job->left_ns != IPF_ABSENT && job->left_ns > job->first_byte_ns)
		job->left_ns = IPF_ABSENT;
}

/* A Date that several answers have in succession is parsed once. */
static void note_date(struct transfer *x, const char *line, size_t len)
{
	struct slice text = trimmed(line + 5, len - 5);
	int64_t own_ns;
	if (text.len != HTTP_DATE_LENGTH || x->job->date_s != IPF_ABSENT)
		return;
	if (memcmp(text.data, x->setup->date, HTTP_DATE_LENGTH) != 0) {
		x->setup->date_s = http_date_parse(text);
		memcpy(x->setup->date, text.data, HTTP_DATE_LENGTH);
	}
	x->job->date_s = x->setup->date_s;
	time_of_bytes(x, &x->job->date_ns, &own_ns);
}

static size_t on_header(char *line, size_t size, size_t count, void *user)
{
	struct transfer *x = user;
	size_t len = size * count;
	if (!x->job)
		return len;
	note_first_byte(x);
	if (!x->setup->header(x, len))
		return 0;
	if (len > 5 && !memcmp(line, "HTTP/", 5)) { /* the previous headers belonged to an interim response */
		buffer_clear(&x->job->headers);
		x->job->date_s = IPF_ABSENT;
	}
	if (len > 5 && !strncasecmp(line, "date:", 5))
		note_date(x, line, len);
	const char *colon = memchr(line, ':', len);
	size_t name = colon ? (size_t)(colon - line) : 0;
	enum kept how = colon ? kept(x->setup->options->record_headers, line, name) : KEPT_NOT;
	if (how == KEPT_NAME)
		keep_header(x->job, line, name, slice_of(REDACTED));
	else if (how == KEPT_VALUE)
		keep_value(x->job, line, name, len);
	return len;
}

static void set_pipewait(struct transfer *x, bool on)
{
	x->pipewait = on;
	curl_easy_setopt(x->easy, CURLOPT_PIPEWAIT, on ? 1L : 0L);
}

/* libcurl calls this after each of its steps. The first call at which the whole body has been sent comes right after
 * that send; it is the only one that counts. */
static int on_progress(void *user, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up)
{
	struct transfer *x = user;
	(void)down_total;
	(void)down;
	(void)up_total;
	/* if a server refuses the request, the transport chooses another connection, not libcurl */
	if (x->pipewait && x->attempts > 0)
		set_pipewait(x, false);
	if (x->job && x->job->sent_ns == IPF_ABSENT && x->attempts > 0 && up >= x->job->request_bytes) {
		x->job->sent_ns = clock_now() - x->setup->zero_ns;
		note_left(x);
		curl_easy_setopt(x->easy, CURLOPT_NOPROGRESS, 1L);
	}
	return 0;
}

/* Was the TLS session resumed from an earlier connection? */
static bool session_resumed(const struct transfer *x)
{
	struct curl_tlssessioninfo *tls = NULL;
	return !curl_easy_getinfo(x->easy, CURLINFO_TLS_SSL_PTR, &tls) && tls && tls->backend == CURLSSLBACKEND_OPENSSL &&
	       tls->internals && SSL_session_reused(tls->internals);
}

/* Notes the connection. libcurl does not report the socket of a connection that other requests use, too. */
static void note_connection(struct transfer *x)
{
	struct transfer_setup *s = x->setup;
	struct job *job = x->job;
	curl_socket_t fd = -1;
	if (s->options->connections.http != HTTP_1_1)
		job->connected_ns = clock_now() - s->zero_ns;
	if (job->connection == IPF_ABSENT && curl_easy_getinfo(x->easy, CURLINFO_ACTIVESOCKET, &fd))
		fd = -1;
	s->connected(x, fd);
	job->resumed = s->share && !job->reused && session_resumed(x);
}

/* libcurl calls this right before it sends the request. A second call means that the kept connection broke before a
 * response, and libcurl would retry. It must not: a hidden retry falsifies the latency. */
static int on_prerequest(void *user, char *remote, char *local, int remote_port, int local_port)
{
	struct transfer *x = user;
	(void)remote;
	(void)local;
	(void)remote_port;
	(void)local_port;
	if (x->attempts && !transfer_may_retry(x))
		return CURL_PREREQFUNC_ABORT;
	x->attempts++;
	note_connection(x);
	return CURL_PREREQFUNC_OK;
}

/* Was the request refused? An HTTP/2 server refuses streams beyond its limit without processing them; it announces the
 * limit only after the first requests may have been sent. The connection is still open, and the request goes to another
 * one, or waits; that time is part of the request's time. */
static bool refused(const struct transfer *x)
{
	/* if the connection is closed, too, but without an error, the server closed it before it processed the request */
	return x->setup->options->connections.http != HTTP_1_1 && x->job->first_byte_ns == IPF_ABSENT &&
	       (x->setup->alive(x) || !x->error[0]);
}

bool transfer_may_retry(struct transfer *x)
{
	struct job *job = x->job;
	if (x->retry_ns != IPF_ABSENT)
		return false;
	if (!refused(x) || job->refused >= REFUSALS_MAX) {
		x->retry_ns = x->setup->t_ns;
		return false;
	}
	x->setup->refused(x);
	if (job->connection != IPF_ABSENT)
		job->refused = job->refused == IPF_ABSENT ? 1 : job->refused + 1;
	job->sent_ns = job->left_ns = job->connection = IPF_ABSENT;
	x->attempts = 0;
	x->fd = -1;
	curl_easy_setopt(x->easy, CURLOPT_NOPROGRESS, 0L);
	return true;
}

bool transfer_must_resend(struct transfer *x, CURLcode code)
{
	return code == CURLE_RECV_ERROR && !strncmp(x->error, "Connection died, tried", 22) && transfer_may_retry(x);
}

void transfer_no_socket(struct transfer *x, int errno_value)
{
	snprintf(x->job->error_text, sizeof x->job->error_text, "cannot open a socket: %s", strerror(errno_value));
}

/* ---- handles ---- */

static long milliseconds(int64_t ns)
{
	int64_t ms = (ns + NS_PER_MS - 1) / NS_PER_MS;
	return ms > INT32_MAX ? INT32_MAX : (long)ms;
}

static void set_connection(CURL *easy, const struct transfer_setup *s)
{
	const struct transport_options *o = s->options;
	bool fresh = o->connections.kind == CONNECTION_POLICY_FRESH;
	network_path_apply(o->network_path, easy, o->connections.http);
	if (o->connections.http != HTTP_1_1)
		curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, SHARED_BUFFER);
	curl_easy_setopt(easy, CURLOPT_SHARE, s->share);
	curl_easy_setopt(easy, CURLOPT_SSL_SESSIONID_CACHE, o->connections.no_resumption ? 0L : 1L);
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_TCP_NODELAY, 1L);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, milliseconds(o->timeout_ns));
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, milliseconds(o->connect_timeout_ns));
	curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, fresh ? 1L : 0L);
	curl_easy_setopt(easy, CURLOPT_FORBID_REUSE, fresh ? 1L : 0L);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, s->close_socket);
	curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, s->close_data);
}

/* Sets the parsed URL if all requests have the same, so that libcurl does not parse it for each of them. */
static CURLcode set_target(CURL *easy, const struct endpoint *endpoint, size_t target)
{
	const struct target *p = &endpoint->targets[target];
	return curl_easy_setopt(easy, CURLOPT_URL, p->url) |
	       curl_easy_setopt(easy, CURLOPT_CURLU, endpoint->url_varies ? NULL : p->parsed);
}

static CURLcode set_request(CURL *easy, const struct transfer_setup *s, struct transfer *x)
{
	CURLcode bad = set_target(easy, s->endpoint, 0);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_POST, 1L);
	if (strcmp(s->endpoint->method, "POST") != 0)
		bad |= curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, s->endpoint->method);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, s->endpoint->headers);
	bad |= curl_easy_setopt(easy, CURLOPT_USERAGENT, "ipf-fire/" IPF_VERSION);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, x->error);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, x);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, s->open_socket);
	curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, x);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, x);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, x);
	curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(easy, CURLOPT_XFERINFODATA, x);
	curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_prerequest);
	curl_easy_setopt(easy, CURLOPT_PREREQDATA, x);
	return bad;
}

struct transfer *transfer_new(struct transfer_setup *setup)
{
	struct transfer *x = calloc(1, sizeof *x);
	if (!x)
		return NULL;
	x->setup = setup;
	x->easy = curl_easy_init();
	if (x->easy && set_request(x->easy, setup, x) == CURLE_OK) {
		set_connection(x->easy, setup);
		transfer_reset(x);
		return x;
	}
	transfer_free(x);
	return NULL;
}

void transfer_reset(struct transfer *x)
{
	const struct connection_policy *c = &x->setup->options->connections;
	/* let many streams wait for one connection instead of opening one each */
	if (!x->pipewait && c->http != HTTP_1_1 && c->kind != CONNECTION_POLICY_FRESH)
		set_pipewait(x, true);
}

void transfer_free(struct transfer *x)
{
	if (!x)
		return;
	curl_easy_cleanup(x->easy);
	curl_slist_free_all(x->signed_headers);
	free(x);
}

static const char *url_of(const struct transfer *x, const struct job *job, size_t target)
{
	const char *own = job->url.data;
	if (!job->url.len)
		return x->setup->endpoint->targets[target].url;
	for (size_t i = 0; i < target; i++)
		own += strlen(own) + 1;
	return own;
}

static void set_url(struct transfer *x, const struct job *job, size_t target)
{
	if (job->url.len)
		curl_easy_setopt(x->easy, CURLOPT_URL, url_of(x, job, target));
	else if (target != x->target)
		set_target(x->easy, x->setup->endpoint, target);
	x->target = target;
}

/* Sets the HTTP version. libcurl before 8.0 sets up HTTP/2 a second time, and fails, if a request with prior knowledge
 * gets an existing connection. So a request either uses only existing connections, without prior knowledge, or opens a
 * new one. If there is no connection after all, on_open makes it start again. */
static void set_version(struct transfer *x, bool kept)
{
	const struct connection_policy *c = &x->setup->options->connections;
	bool tls = !strncmp(x->setup->endpoint->targets[x->target].url, "https:", 6),
		 fresh = c->kind == CONNECTION_POLICY_FRESH;
	x->restart = x->only_kept = x->refused = false;
	if (c->http == HTTP_1_1 || (c->http == HTTP_2 && tls)) {
		curl_easy_setopt(x->easy, CURLOPT_HTTP_VERSION,
		                 c->http == HTTP_2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1);
		if (c->http == HTTP_2)
			curl_easy_setopt(x->easy, CURLOPT_FRESH_CONNECT, !kept || fresh ? 1L : 0L);
		return;
	}
	x->only_kept = kept && !fresh;
	curl_easy_setopt(x->easy, CURLOPT_HTTP_VERSION,
	                 x->only_kept ? CURL_HTTP_VERSION_2_0 : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
	curl_easy_setopt(x->easy, CURLOPT_FRESH_CONNECT, x->only_kept ? 0L : 1L);
}

void transfer_restart(struct transfer *x)
{
	x->error[0] = '\0';
	x->begin_ns = clock_now() - x->setup->zero_ns;
	set_version(x, false);
}

/* Sets the request's own headers, if it has some. The signature is made now, because it is valid only for minutes. */
static void set_headers(struct transfer *x, const struct job *job)
{
	const struct endpoint *t = x->setup->endpoint;
	struct curl_slist *list = t->varying ? job->headers_sent : t->headers;
	if (t->signer) {
		curl_slist_free_all(x->signed_headers);
		const struct signed_request request = {.method = t->method,
		                                       .url = url_of(x, job, x->target),
		                                       .body = buffer_all(&job->request),
		                                       .now = time(NULL)};
		x->signed_headers = signer_headers(t->signer, &request);
		x->no_memory |= !x->signed_headers;
		for (; list && !x->no_memory; list = list->next)
			x->no_memory |= !curl_slist_append(x->signed_headers, list->data);
		list = x->signed_headers;
	}
	if (t->varying || t->signer)
		curl_easy_setopt(x->easy, CURLOPT_HTTPHEADER, list);
}

/* Sets the timeout. If the request was held back after its start, or refused, that time is part of it. */
static void set_timeout(struct transfer *x)
{
	int64_t most = x->setup->options->timeout_ns, start = x->job->start_ns;
	if (!most || (start == IPF_ABSENT && !x->shortened))
		return;
	x->shortened = start != IPF_ABSENT;
	int64_t left = x->shortened ? start + most - (clock_now() - x->setup->zero_ns) : most;
	curl_easy_setopt(x->easy, CURLOPT_TIMEOUT_MS, left > 0 ? milliseconds(left) : 1L);
}

void transfer_begin(struct transfer *x, struct job *job, size_t target, bool pin, bool kept)
{
	x->job = job;
	x->serial++;
	x->attempts = 0;
	x->fd = -1;
	x->round_trip_ns = 0;
	x->established = x->opening = false;
	x->retry_ns = IPF_ABSENT;
	x->cancelled = NULL;
	x->no_memory = false;
	x->error[0] = '\0';
	curl_easy_setopt(x->easy, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(x->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)job->request.len);
	curl_easy_setopt(x->easy, CURLOPT_POSTFIELDS, job->request.data ? job->request.data : "");
	set_url(x, job, target);
	set_timeout(x);
	set_version(x, kept);
	set_headers(x, job);
	if (x->setup->options->connections.kind == CONNECTION_POLICY_SESSION)
		curl_easy_setopt(x->easy, CURLOPT_ADDRESS_SCOPE, (long)x->scope);
	if (pin)
		curl_easy_setopt(x->easy, CURLOPT_RESOLVE, x->setup->endpoint->targets[x->target].resolve);
}
