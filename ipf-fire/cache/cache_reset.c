#include "cache/cache_reset.h"

#include "absent.h"
#include "api/error_message.h"
#include "cache/cache_probe.h"
#include "clock.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RESET_NS (30 * NS_PER_S)
#define PAUSE_NS (500 * NS_PER_MS)
#define TRIES    6
#define SEEN     64 /* fewer cached tokens can be those of a chat template */
#define IDS_MOST 1024

const char *const cache_outcome_names[CACHE_OUTCOMES] = {
	[CACHE_VERIFIED] = "verified", [CACHE_UNVERIFIED] = "unverified", [CACHE_REFUTED] = "refuted",
	[CACHE_FAILED] = "failed",     [CACHE_MISSING] = "missing",
};

/* The reset of one target. */
struct reset {
	struct aside_client *client;
	size_t target, targets;
	const struct api_cache_reset *used; /* the request the server knows */
	struct aside_answer answer;
	struct cache_probe *probe;
	struct cache_sight before, after;
	bool by_usage; /* the proof, rather than by counters */
	int tries;
	int64_t begin_ns, took_ns;
	enum cache_outcome outcome;
	char why[ASIDE_WHY];
};

__attribute__((format(printf, 2, 3))) static void add_why(struct reset *r, const char *format, ...)
{
	size_t len = strlen(r->why);
	va_list args;
	va_start(args, format);
	vsnprintf(r->why + len, sizeof r->why - len, format, args);
	va_end(args);
}

/* ---- the request ---- */

static bool knows_path(long status)
{
	return status != 404 && status != 405 && status != 501;
}

static bool is_success(const struct aside_answer *answer)
{
	json_t *body = answer->body.len ? json_loadb(answer->body.data, answer->body.len, 0, NULL) : NULL;
	bool denied = json_is_false(json_object_get(body, "success"));
	json_decref(body);
	return answer->status >= 200 && answer->status <= 299 && !denied;
}

static void explain(struct reset *r, const char *method, const char *path)
{
	struct jdoc doc = {0};
	struct buffer said = {0};
	if (r->answer.body.len)
		error_message_of_body(&doc, buffer_all(&r->answer.body), &said);
	add_why(r, "%s%s %s: ", *r->why ? "; " : "", method, path);
	if (r->answer.status)
		add_why(r, "status %ld", r->answer.status);
	else
		add_why(r, "%s", r->answer.why);
	if (said.len && !said.failed && r->answer.status && knows_path(r->answer.status))
		add_why(r, " (%.80s)", said.data);
	buffer_release(&said);
	jdoc_release(&doc);
}

static int call(struct reset *r, const char *method, const char *path, struct ipf_error *err)
{
	const struct aside_call request = {.method = method, .path = path, .timeout_ns = RESET_NS};
	return aside_client_call(r->client, r->target, &request, &r->answer, err);
}

struct id_list {
	struct buffer paths; /* each with a NUL after it */
	const char *path;
	size_t count;
};

/* The server's ids become a part of a URL: other characters are left out. */
static void add_id(struct buffer *path, struct slice id)
{
	for (size_t i = 0; i < id.len; i++)
		if (isalnum((unsigned char)id.data[i]) || strchr("._-", id.data[i]))
			buffer_byte(path, id.data[i]);
}

static bool add_path(const struct jdoc *doc, jdoc_id node, void *data)
{
	struct id_list *l = data;
	const char *variable = strstr(l->path, API_CACHE_RESET_EACH);
	buffer_append(&l->paths, l->path, (size_t)(variable - l->path));
	add_id(&l->paths, jdoc_raw(doc, node));
	buffer_text(&l->paths, variable + strlen(API_CACHE_RESET_EACH));
	buffer_byte(&l->paths, '\0');
	return ++l->count < IDS_MOST;
}

static int call_each(struct reset *r, const struct api_cache_reset *how, struct ipf_error *err)
{
	struct id_list list = {.path = how->path};
	struct jdoc doc = {0};
	struct ipf_error wrong = {0};
	int result = call(r, "GET", how->each_path, err);
	if (result == 0 && is_success(&r->answer)) {
		if (jdoc_parse(&doc, r->answer.body.data ? r->answer.body.data : "", r->answer.body.len, &wrong) == 0)
			api_pointer_each(how->each_ids, &doc, JDOC_ROOT, add_path, &list);
		if (!list.count) {
			r->answer.status = 0;
			snprintf(r->answer.why, sizeof r->answer.why, "it lists none");
		}
	}
	jdoc_release(&doc);
	if (list.paths.failed)
		result = ipf_error_memory(err);
	const char *path = list.paths.data;
	for (size_t i = 0; result == 0 && i < list.count && is_success(&r->answer); i++, path += strlen(path) + 1)
		result = call(r, how->method, path, err);
	buffer_release(&list.paths);
	return result;
}

/* Tries the requests of the API until the server knows one; then only that one. 1: it said that it did. */
static int request_reset(struct reset *r, struct ipf_error *err)
{
	const struct api_cache_resets *all = api_cache_resets(aside_client_options(r->client)->api);
	r->why[0] = '\0';
	r->outcome = CACHE_MISSING;
	for (size_t i = 0; i < all->count; i++) {
		const struct api_cache_reset *how = &all->list[i];
		if (r->used && r->used != how)
			continue;
		if ((how->each_path ? call_each(r, how, err) : call(r, how->method, how->path, err)) < 0)
			return -1;
		if (!r->answer.status || knows_path(r->answer.status)) {
			r->used = how;
			r->outcome = CACHE_FAILED;
			r->why[0] = '\0';
			if (!is_success(&r->answer))
				explain(r, how->method, how->path);
			return is_success(&r->answer);
		}
		explain(r, how->method, how->path);
		if (how->needs && *how->needs)
			add_why(r, " (needs %s)", how->needs);
	}
	return 0;
}

/* ---- the proof ---- */

static int64_t sight_of(const struct reset *r, const struct cache_sight *sight)
{
	return r->by_usage ? sight->usage : sight->counters;
}

/* Is the probe known to be in the cache now? */
static int prepare_proof(struct reset *r, struct ipf_error *err)
{
	if (cache_probe_new(&r->probe, r->client, r->target, err) < 0 || cache_probe_send(r->probe, &r->before, err) < 0 ||
	    cache_probe_send(r->probe, &r->before, err) < 0)
		return -1;
	r->by_usage = r->before.usage >= SEEN;
	return 0;
}

static bool can_prove(const struct reset *r)
{
	return sight_of(r, &r->before) >= SEEN;
}

/* Sets the outcome of a reset that the server said it did. */
static int look(struct reset *r, struct ipf_error *err)
{
	r->outcome = CACHE_UNVERIFIED;
	if (!can_prove(r)) {
		if (*r->before.why)
			add_why(r, "the probe failed: %s", r->before.why);
		else
			add_why(r, "the server shows no cached tokens of a prompt sent twice, neither in usage nor in /metrics");
		return 0;
	}
	if (cache_probe_send(r->probe, &r->after, err) < 0)
		return -1;
	int64_t after = sight_of(r, &r->after);
	if (after == IPF_ABSENT) {
		add_why(r, "the probe after the reset shows no count of cached tokens%s%s", *r->after.why ? ": " : "",
		        r->after.why);
	} else if (after >= SEEN && after > sight_of(r, &r->before) / 8) {
		r->outcome = CACHE_REFUTED;
		add_why(r, "%s %s answered %ld, but %lld of %lld cached tokens of a probe are still there", r->used->method,
		        r->used->path, r->answer.status, (long long)after, (long long)sight_of(r, &r->before));
	} else {
		r->outcome = CACHE_VERIFIED;
	}
	return 0;
}

/* The first request only finds out which of them the server knows. */
static int reset_target(struct reset *r, struct ipf_error *err)
{
	if (request_reset(r, err) < 0)
		return -1;
	if (r->outcome == CACHE_MISSING || (r->outcome == CACHE_FAILED && !r->answer.status))
		return 0;
	if (prepare_proof(r, err) < 0)
		return -1;
	r->begin_ns = clock_now();
	for (r->tries = 1;; r->tries++) {
		int said = request_reset(r, err);
		if (said < 0 || (said && look(r, err) < 0))
			return -1;
		/* A server that does not answer is not asked again. */
		bool again = r->outcome == CACHE_REFUTED || (r->outcome == CACHE_FAILED && r->answer.status);
		if (!again || r->tries == TRIES)
			break;
		if (aside_client_wait(r->client, PAUSE_NS, err) < 0)
			return -1;
	}
	r->took_ns = clock_now() - r->begin_ns;
	return 0;
}

static void put_count(json_t *to, const char *name, int64_t value)
{
	if (value != IPF_ABSENT)
		json_object_set_new(to, name, json_integer(value));
}

static json_t *proof_json(const struct reset *r)
{
	json_t *json = json_object();
	if (r->targets > 1)
		put_count(json, "target", (int64_t)r->target);
	json_object_set_new(json, "outcome", json_string(cache_outcome_names[r->outcome]));
	if (r->used)
		json_object_set_new(json, "request", json_sprintf("%s %s", r->used->method, r->used->path));
	if (r->used && r->answer.status)
		put_count(json, "status", r->answer.status);
	if (r->tries) {
		put_count(json, "tries", r->tries);
		put_count(json, "took_ns", r->took_ns);
	}
	if (r->outcome == CACHE_VERIFIED || r->outcome == CACHE_REFUTED) {
		json_object_set_new(json, "proof", json_string(r->by_usage ? "usage" : "counters"));
		put_count(json, "prompt_tokens", r->before.prompt_tokens);
		put_count(json, "before", sight_of(r, &r->before));
		put_count(json, "after", sight_of(r, &r->after));
	}
	if (*r->why)
		json_object_set_new(json, "why", json_string(r->why));
	return json;
}

int cache_reset(struct aside_client *client, size_t targets, enum cache_outcome *worst, char why[ASIDE_WHY],
                json_t *proof, struct ipf_error *err)
{
	*worst = CACHE_VERIFIED;
	why[0] = '\0';
	for (size_t i = 0; i < targets; i++) {
		struct reset r = {.client = client, .target = i, .targets = targets};
		r.before.usage = r.before.counters = r.after.usage = r.after.counters = IPF_ABSENT;
		int result = reset_target(&r, err);
		if (result == 0 && json_array_append_new(proof, proof_json(&r)) < 0)
			result = ipf_error_memory(err);
		if (result == 0 && r.outcome > *worst) {
			*worst = r.outcome;
			snprintf(why, ASIDE_WHY, "%s", r.why);
		}
		cache_probe_free(r.probe);
		aside_answer_release(&r.answer);
		if (result < 0)
			return -1;
	}
	return 0;
}
