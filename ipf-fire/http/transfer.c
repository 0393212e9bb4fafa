#include "http/transfer.h"

#include "absent.h"
#include "clock.h"
#include "json/jout.h"
#include "version.h"

#include <errno.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- what libcurl tells ---- */

static bool takes_more(const struct transfer *x)
{
	return x->job && !x->no_memory;
}

/* The kernel's timestamp of the last read of its connection: what is handed over came with it, or before. */
static const struct timestamp *kernel_timestamp(const struct transfer *x)
{
	const struct transfer_setup *s = x->setup;
	const struct timestamp *read = timestamps_of(s->timestamps, x->fd);
	if (read && read->t_ns - s->zero_ns < x->job->start_ns)
		timestamps_reject(s->timestamps, x->fd); /* nothing of an answer comes before the request */
	return read;
}

/* When the last read was, if it is known: by the kernel, or else by our clock right after it. */
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

/* When the bytes that are handed over came. Within a call that also sent the request, that was after the sending. */
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
	if (job_received(x->job, data, size * count, t_ns, own_ns) < 0) {
		x->no_memory = true;
		return 0;
	}
	return size * count;
}

static bool kept(const struct string_list *names, const char *line, size_t len)
{
	for (size_t i = 0; i < names->count; i++)
		if (!strcmp(names->items[i], "*") && !header_name_is_secret(line, len))
			return true;
		else if (strlen(names->items[i]) == len && !strncasecmp(names->items[i], line, len))
			return true;
	return false;
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

static void keep_header(struct job *job, const char *line, size_t name, size_t len)
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
		return; /* of several the first */
	if (job->headers.len)
		buffer_byte(&job->headers, ',');
	buffer_append(&job->headers, member, (size_t)len_member);
	jout_string(&w, trimmed(line + name + 1, len - name - 1));
}

/* When the kernel let go the last byte that was sent on the connection: the request's, as long as no other is sent on
 * it. */
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
	/* `sent` was read when the call came back that had sent; the kernel may have had the answer by then */
	if (job->sent_ns != IPF_ABSENT && job->sent_ns > job->first_byte_ns)
		job->sent_ns = job->first_byte_ns;
	if (job->left_ns == IPF_ABSENT && connection_policy_streams(&x->setup->options->connections) == 1)
		note_left(x); /* it came late */
	if (job->left_ns != IPF_ABSENT && job->left_ns > job->first_byte_ns)
		job->left_ns = IPF_ABSENT;
}

static size_t on_header(char *line, size_t size, size_t count, void *user)
{
	struct transfer *x = user;
	size_t len = size * count;
	if (!x->job)
		return len;
	note_first_byte(x);
	if (len > 5 && !memcmp(line, "HTTP/", 5))
		buffer_clear(&x->job->headers); /* those before were of an interim answer */
	const char *colon = memchr(line, ':', len);
	if (colon && kept(x->setup->options->record_headers, line, (size_t)(colon - line)))
		keep_header(x->job, line, (size_t)(colon - line), len);
	return len;
}

static void set_pipewait(struct transfer *x, bool on)
{
	x->pipewait = on;
	curl_easy_setopt(x->easy, CURLOPT_PIPEWAIT, on ? 1L : 0L);
}

/* libcurl calls this after each of its steps. The first call at which it has handed over the whole body comes right
 * after the send, and is the only one that counts. */
static int on_progress(void *user, curl_off_t down_total, curl_off_t down, curl_off_t up_total, curl_off_t up)
{
	struct transfer *x = user;
	(void)down_total;
	(void)down;
	(void)up_total;
	/* where a server refuses it, we find it another connection ourselves */
	if (x->pipewait && x->attempts > 0)
		set_pipewait(x, false);
	if (x->job && x->job->sent_ns == IPF_ABSENT && x->attempts > 0 && up >= x->job->request_bytes) {
		x->job->sent_ns = clock_now() - x->setup->zero_ns;
		note_left(x);
		curl_easy_setopt(x->easy, CURLOPT_NOPROGRESS, 1L);
	}
	return 0;
}

/* Was the TLS session one that we had from an earlier connection? */
static bool session_resumed(const struct transfer *x)
{
	struct curl_tlssessioninfo *tls = NULL;
	return !curl_easy_getinfo(x->easy, CURLINFO_TLS_SSL_PTR, &tls) && tls && tls->backend == CURLSSLBACKEND_OPENSSL &&
	       tls->internals && SSL_session_reused(tls->internals);
}

/* On a connection that others use as well, libcurl says nothing of sockets. */
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

/* Right before the request is sent. A second time: the kept connection broke before an answer, and libcurl would send
 * again. It is not to: a retry that nobody asked for falsifies the latency. */
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

/* A server of HTTP/2 refuses streams beyond what it takes at once, and has not looked at them; how many it takes it
 * says only after the first may have been sent. The connection is there as before, and the request goes on another one
 * or waits: the time of that counts as its own. */
static bool refused(const struct transfer *x)
{
	/* where the connection is gone, too, but nothing failed on it, the server took leave before it looked */
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

/* Parsed already, where requests have none of their own: libcurl would do it again for each of them. */
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
	/* many streams wait for one connection, and do not open one each */
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

/* libcurl before 8.0 sets HTTP/2 up a second time, and fails, where prior knowledge meets a connection that has it
 * already. So a request keeps either to the connections that there are, not knowing, or makes one; where there is none
 * after all, on_open has it begin anew. */
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

/* The request's own where it has some; a signature is made now, since it is good for minutes only. */
static void set_headers(struct transfer *x, const struct job *job)
{
	const struct endpoint *t = x->setup->endpoint;
	struct curl_slist *list = t->varying ? job->headers_sent : t->headers;
	if (t->signer) {
		curl_slist_free_all(x->signed_headers);
		x->signed_headers = signer_headers(t->signer, t->method, url_of(x, job, x->target), buffer_all(&job->request),
		                                   time(NULL));
		x->no_memory |= !x->signed_headers;
		for (; list && !x->no_memory; list = list->next)
			x->no_memory |= !curl_slist_append(x->signed_headers, list->data);
		list = x->signed_headers;
	}
	if (t->varying || t->signer)
		curl_easy_setopt(x->easy, CURLOPT_HTTPHEADER, list);
}

/* It may have been held back after its start, or refused: that is part of its time. */
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
