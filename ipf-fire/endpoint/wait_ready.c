#include "endpoint/wait_ready.h"

#include "cli/units.h"
#include "clock.h"
#include "endpoint/connection_policy.h"
#include "endpoint/preflight.h"
#include "http/libcurl.h"
#include "protobuf/grpc_wire.h"
#include "protobuf/protobuf.h"
#include "version.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PAUSE_MS  200
#define ANSWER_MS 5000 /* timeout of one readiness request */

enum readiness { READY, NOT_READY, UNKNOWN_PATH };

struct readiness_check {
	const struct wait_ready_options *o;
	struct endpoint *endpoint;
	CURL *easy;
	int64_t deadline_ns;
	size_t target;    /* the one asked */
	char reason[800]; /* why a target was not ready last … */
	size_t not_ready; /* … and which target */
	/* a gRPC response: its first bytes, and its status as text */
	char body[64], status[16];
	size_t body_len;
};

static size_t keep_start(char *data, size_t size, size_t count, void *user)
{
	struct readiness_check *w = user;
	size_t len = size * count, room = sizeof w->body - w->body_len;
	memcpy(w->body + w->body_len, data, len < room ? len : room);
	w->body_len += len < room ? len : room;
	return len;
}

/* The status is in the headers or in the trailers. */
static size_t keep_status(char *line, size_t size, size_t count, void *user)
{
	static const char name[] = "grpc-status:";
	struct readiness_check *w = user;
	size_t len = size * count, skip = sizeof name - 1;
	if (len > skip && !strncasecmp(line, name, skip)) {
		skip += strspn(line + skip, " ");
		snprintf(w->status, sizeof w->status, "%.*s", (int)strcspn(line + skip, "\r\n"), line + skip);
	}
	return len;
}

__attribute__((format(printf, 2, 3))) static void set_reason(struct readiness_check *w, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(w->reason, sizeof w->reason, format, args);
	va_end(args);
	w->not_ready = w->target;
}

static long left_ms(const struct readiness_check *w, long most)
{
	int64_t left = (w->deadline_ns - clock_now()) / NS_PER_MS + 1;
	return left < 1 ? 1 : left < most ? (long)left : most;
}

static int open_handle(struct readiness_check *w)
{
	CURL *e = w->easy = curl_easy_init();
	if (!e)
		return -1;
	network_path_apply(w->o->network_path, e, w->o->http);
	curl_easy_setopt(e, CURLOPT_RESOLVE, w->o->network_path->resolve);
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(e, CURLOPT_HTTPGET, 1L);
	curl_easy_setopt(e, CURLOPT_HTTPHEADER, w->endpoint->headers);
	curl_easy_setopt(e, CURLOPT_USERAGENT, "ipf-fire/" IPF_VERSION);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, keep_start);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, w);
	curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, keep_status);
	curl_easy_setopt(e, CURLOPT_HEADERDATA, w);
	return 0;
}

/* The response to a gRPC method that takes an empty message and answers one whose field 1 is 1 if the server is ready:
 * SERVING of grpc.health.v1, or true. */
static enum readiness read_grpc_response(struct readiness_check *w, const char *path)
{
	static const char yes[] = {8, 1};
	bool compressed;
	struct slice message;
	size_t next;
	char *end;
	long status = strtol(w->status, &end, 10);
	if (end == w->status || *end) {
		set_reason(w, "%s: no grpc-status", path);
		return NOT_READY;
	}
	const char *name = grpc_status_name(status);
	set_reason(w, "%s: %s", path, status ? (name ? name : w->status) : "not ready");
	if (status == 12) /* UNIMPLEMENTED */
		return UNKNOWN_PATH;
	bool whole = grpc_frame((struct slice){w->body, w->body_len}, 0, &compressed, &message, &next) == 1 && !compressed;
	return status == 0 && whole && message.len >= sizeof yes && !memcmp(message.data, yes, sizeof yes) ? READY
	                                                                                                   : NOT_READY;
}

static void prepare(struct readiness_check *w, const char *url)
{
	static const char empty[GRPC_PREFIX];
	w->body_len = 0;
	w->status[0] = '\0';
	curl_easy_setopt(w->easy, CURLOPT_URL, url);
	network_path_set_version(w->easy, w->o->http, url);
	if (!w->endpoint->grpc)
		return;
	curl_easy_setopt(w->easy, CURLOPT_POSTFIELDSIZE, (long)sizeof empty);
	curl_easy_setopt(w->easy, CURLOPT_POSTFIELDS, empty);
}

static enum readiness ask(struct readiness_check *w, const char *path, const char *url)
{
	long status = 0, ms = left_ms(w, ANSWER_MS);
	prepare(w, url);
	curl_easy_setopt(w->easy, CURLOPT_TIMEOUT_MS, ms);
	curl_easy_setopt(w->easy, CURLOPT_CONNECTTIMEOUT_MS, ms);
	CURLcode code = curl_easy_perform(w->easy);
	/* keep the earlier reason if our own deadline cut this request short */
	if (code == CURLE_OPERATION_TIMEDOUT && ms < ANSWER_MS && w->reason[0])
		return NOT_READY;
	if (code) {
		set_reason(w, "%s: %s", path, libcurl_why(code, NULL));
		return NOT_READY;
	}
	curl_easy_getinfo(w->easy, CURLINFO_RESPONSE_CODE, &status);
	if (w->endpoint->grpc && status == 200)
		return read_grpc_response(w, path);
	set_reason(w, "%s: status %ld", path, status);
	return status == 404 || status == 405 ? UNKNOWN_PATH : status >= 200 && status < 300 ? READY : NOT_READY;
}

/* The first path the server knows decides. If it knows none of them, it counts as ready: an HTTP server answers, and
 * nothing more can be found out. */
static enum readiness ask_target(struct readiness_check *w, struct ipf_error *err)
{
	const char *path;
	for (size_t i = 0; (path = api_ready_path(w->o->api, i)); i++) {
		char *url = endpoint_url_with_path(w->o->api, w->o->endpoint_options, w->target, path, err);
		enum readiness answer = url ? ask(w, path, url) : NOT_READY;
		free(url);
		if (answer != UNKNOWN_PATH || err->kind)
			return answer;
	}
	return READY;
}

/* All targets have to be ready. */
static enum readiness ask_all(struct readiness_check *w, struct ipf_error *err)
{
	for (w->target = 0; w->target < w->endpoint->count; w->target++)
		if (ask_target(w, err) != READY)
			return NOT_READY;
	return READY;
}

static enum readiness try_connection(struct readiness_check *w)
{
	struct ipf_error why = {0};
	int got = preflight_connect(w->endpoint, w->o->network_path, left_ms(w, ANSWER_MS) * NS_PER_MS, &why);
	set_reason(w, "%s", why.text);
	return got < 0 ? NOT_READY : READY;
}

int wait_until_ready(struct endpoint *e, const struct wait_ready_options *options, int64_t *took_ns,
                     struct ipf_error *err)
{
	int64_t begin_ns = clock_now();
	struct readiness_check w = {.o = options, .endpoint = e, .deadline_ns = begin_ns + options->timeout_ns};
	enum readiness answer = NOT_READY;
	char text[32];
	if (open_handle(&w) < 0)
		return ipf_error_memory(err);
	for (;;) {
		answer = api_ready_path(options->api, 0) ? ask_all(&w, err) : try_connection(&w);
		if (answer == READY || err->kind || clock_now() >= w.deadline_ns)
			break;
		poll(NULL, 0, (int)left_ms(&w, PAUSE_MS));
	}
	curl_easy_cleanup(w.easy);
	if (err->kind)
		return -1;
	*took_ns = clock_now() - begin_ns;
	if (answer != READY)
		return ipf_error_at(err, IPF_SYSTEM, e->targets[w.not_ready].shown, 0, "not ready after %s: %s",
		                    format_duration(*took_ns, text), w.reason);
	return 0;
}
