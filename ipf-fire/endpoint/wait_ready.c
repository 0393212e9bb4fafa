#include "endpoint/wait_ready.h"

#include "clock.h"
#include "endpoint/connection_policy.h"
#include "protobuf/grpc_wire.h"
#include "endpoint/preflight.h"
#include "cli/units.h"
#include "version.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define PAUSE_MS  200
#define ANSWER_MS 5000 /* for one of our questions */

enum answer { READY, NOT_YET, UNKNOWN_PATH };

struct waiting {
	const struct endpoint *target;
	const struct network_path *route;
	CURL *easy;
	enum http_kind http;
	int64_t deadline_ns;
	size_t place;     /* that is asked */
	char why[800];    /* what was wrong last … */
	size_t why_place; /* … and with which */
	/* of an answer of gRPC: its first bytes, and its status as text */
	char body[64], status[16];
	size_t body_len;
};

static size_t keep_start(char *data, size_t size, size_t count, void *user)
{
	struct waiting *w = user;
	size_t len = size * count, room = sizeof w->body - w->body_len;
	memcpy(w->body + w->body_len, data, len < room ? len : room);
	w->body_len += len < room ? len : room;
	return len;
}

/* In the headers or the trailers. */
static size_t keep_status(char *line, size_t size, size_t count, void *user)
{
	static const char name[] = "grpc-status:";
	struct waiting *w = user;
	size_t len = size * count, skip = sizeof name - 1;
	if (len > skip && !strncasecmp(line, name, skip)) {
		skip += strspn(line + skip, " ");
		snprintf(w->status, sizeof w->status, "%.*s", (int)strcspn(line + skip, "\r\n"), line + skip);
	}
	return len;
}

/* Why it is not ready, and which of them. */
__attribute__((format(printf, 2, 3))) static void because(struct waiting *w, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(w->why, sizeof w->why, format, args);
	va_end(args);
	w->why_place = w->place;
}

static long left_ms(const struct waiting *w, long most)
{
	int64_t left = (w->deadline_ns - clock_now()) / NS_PER_MS + 1;
	return left < 1 ? 1 : left < most ? (long)left : most;
}

static int open_handle(struct waiting *w)
{
	CURL *e = w->easy = curl_easy_init();
	if (!e)
		return -1;
	network_path_apply(w->route, e, w->http);
	curl_easy_setopt(e, CURLOPT_RESOLVE, w->route->resolve);
	curl_easy_setopt(e, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(e, CURLOPT_HTTPGET, 1L);
	curl_easy_setopt(e, CURLOPT_HTTPHEADER, w->target->headers);
	curl_easy_setopt(e, CURLOPT_USERAGENT, "ipf-fire/" IPF_VERSION);
	curl_easy_setopt(e, CURLOPT_WRITEFUNCTION, keep_start);
	curl_easy_setopt(e, CURLOPT_WRITEDATA, w);
	curl_easy_setopt(e, CURLOPT_HEADERFUNCTION, keep_status);
	curl_easy_setopt(e, CURLOPT_HEADERDATA, w);
	return 0;
}

/* A method of gRPC that takes an empty message and answers one whose first field says it: 1 is SERVING to
 * grpc.health.v1, and true to those that have a field of their own. */
static enum answer understand_grpc(struct waiting *w, const char *path)
{
	static const char yes[] = {8, 1};
	bool compressed;
	struct slice message;
	size_t next;
	char *end;
	long status = strtol(w->status, &end, 10);
	if (end == w->status || *end) {
		because(w, "%s: no grpc-status", path);
		return NOT_YET;
	}
	const char *name = grpc_status_name(status);
	because(w, "%s: %s", path, status ? (name ? name : w->status) : "not ready");
	if (status == 12) /* UNIMPLEMENTED */
		return UNKNOWN_PATH;
	bool whole = grpc_frame((struct slice){w->body, w->body_len}, 0, &compressed, &message, &next) == 1 && !compressed;
	return status == 0 && whole && message.len >= sizeof yes && !memcmp(message.data, yes, sizeof yes) ? READY
	                                                                                                   : NOT_YET;
}

/* As the requests are going to be sent: there are servers that speak nothing else. */
static void set_version(struct waiting *w, const char *url)
{
	bool negotiate = w->http == HTTP_2 && !strncasecmp(url, "https:", 6);
	curl_easy_setopt(w->easy, CURLOPT_HTTP_VERSION,
	                 w->http == HTTP_1_1 ? CURL_HTTP_VERSION_1_1
	                 : negotiate         ? CURL_HTTP_VERSION_2TLS
	                                     : CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
	/* libcurl before 8.0 cannot use a connection again that it made by prior knowledge */
	curl_easy_setopt(w->easy, CURLOPT_FORBID_REUSE, w->http != HTTP_1_1 ? 1L : 0L);
}

static void prepare(struct waiting *w, const char *url)
{
	static const char empty[GRPC_PREFIX];
	w->body_len = 0;
	w->status[0] = '\0';
	curl_easy_setopt(w->easy, CURLOPT_URL, url);
	set_version(w, url);
	if (!w->target->grpc)
		return;
	curl_easy_setopt(w->easy, CURLOPT_POSTFIELDSIZE, (long)sizeof empty);
	curl_easy_setopt(w->easy, CURLOPT_POSTFIELDS, empty);
}

static enum answer ask(struct waiting *w, const char *path, const char *url)
{
	long status = 0, ms = left_ms(w, ANSWER_MS);
	prepare(w, url);
	curl_easy_setopt(w->easy, CURLOPT_TIMEOUT_MS, ms);
	curl_easy_setopt(w->easy, CURLOPT_CONNECTTIMEOUT_MS, ms);
	CURLcode code = curl_easy_perform(w->easy);
	/* a last question, that our own time cut short, says nothing new */
	if (code == CURLE_OPERATION_TIMEDOUT && ms < ANSWER_MS && w->why[0])
		return NOT_YET;
	if (code) {
		because(w, "%s: %s", path, curl_easy_strerror(code));
		return NOT_YET;
	}
	curl_easy_getinfo(w->easy, CURLINFO_RESPONSE_CODE, &status);
	if (w->target->grpc && status == 200)
		return understand_grpc(w, path);
	because(w, "%s: status %ld", path, status);
	return status == 404 || status == 405 ? UNKNOWN_PATH : status >= 200 && status < 300 ? READY : NOT_YET;
}

/* The first path that the server knows decides. A server that knows none of them has an HTTP server up, and no more can
 * be known. */
static enum answer ask_place(struct waiting *w, const struct api *api, const struct endpoint_options *at,
                             struct ipf_error *err)
{
	const char *path;
	for (size_t i = 0; (path = api_ready_path(api, i)); i++) {
		char *url = endpoint_sibling(api, at, w->place, path, err);
		enum answer answer = url ? ask(w, path, url) : NOT_YET;
		free(url);
		if (answer != UNKNOWN_PATH || err->kind)
			return answer;
	}
	return READY;
}

/* Of several places all have to be ready. */
static enum answer ask_all(struct waiting *w, const struct api *api, const struct endpoint_options *at,
                           struct ipf_error *err)
{
	for (w->place = 0; w->place < w->target->count; w->place++)
		if (ask_place(w, api, at, err) != READY)
			return NOT_YET;
	return READY;
}

static enum answer try_connection(struct waiting *w, struct endpoint *target)
{
	struct ipf_error why = {0};
	int got = target_reach(target, w->route, left_ms(w, ANSWER_MS) * NS_PER_MS, &why);
	because(w, "%s", why.text);
	return got < 0 ? NOT_YET : READY;
}

int wait_ready_wait(const struct fire_options *o, const struct api *api, struct endpoint *target,
                    const struct network_path *route, const struct endpoint_options *at, struct ipf_error *err)
{
	int64_t begin_ns = clock_now();
	struct waiting w = {.target = target,
	                    .route = route,
	                    .http = http_of(o->http, target->grpc),
	                    .deadline_ns = begin_ns + o->wait_ready_ns};
	enum answer answer = NOT_YET;
	char text[32];
	if (open_handle(&w) < 0)
		return ipf_error_memory(err);
	for (;;) {
		answer = api_ready_path(api, 0) ? ask_all(&w, api, at, err) : try_connection(&w, target);
		if (answer == READY || err->kind || clock_now() >= w.deadline_ns)
			break;
		poll(NULL, 0, (int)left_ms(&w, PAUSE_MS));
	}
	curl_easy_cleanup(w.easy);
	if (err->kind)
		return -1;
	if (answer != READY)
		return ipf_error_at(err, IPF_SYSTEM, target->places[w.why_place].shown, 0, "not ready after %s: %s",
		                    format_duration(clock_now() - begin_ns, text), w.why);
	if (o->common.verbose && !o->common.quiet)
		fprintf(stderr, "ipf-fire: ready after %s\n", format_duration(clock_now() - begin_ns, text));
	return 0;
}
