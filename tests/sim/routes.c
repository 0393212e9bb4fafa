#include "server.h"

#include "answer.h"
#include "clock.h"
#include "dialect.h"
#include "json/jout.h"

#include <string.h>

static const char *model_name(const struct server *s)
{
	return s->options->model ? s->options->model : "sim";
}

static void reply(struct conn *c, const char *type, const struct buffer *body)
{
	answer_plain(&c->out, 200, type, NULL, buffer_all(body), c->request.keep_alive);
	conn_answered(c);
}

static void fail(struct conn *c, int status, const char *more, const char *text)
{
	answer_error(&c->out, status, more, text, NULL, c->request.keep_alive);
	c->server->totals.refused++;
	conn_answered(c);
}

static void get_models(struct conn *c)
{
	struct buffer body = {0};
	struct jout w = {.out = &body};
	buffer_text(&body, "{\"object\":\"list\",\"data\":[{\"id\":");
	jout_string0(&w, model_name(c->server));
	buffer_format(&body,
	              ",\"object\":\"model\",\"created\":1700000000,\"owned_by\":\"ipf-sim\",\"max_model_len\":%lld}]}",
	              (long long)c->server->options->model_len);
	reply(c, "application/json", &body);
	buffer_release(&body);
}

static void get_health(struct conn *c)
{
	struct buffer nothing = {0};
	reply(c, "text/plain; charset=utf-8", &nothing);
}

static void get_metrics(struct conn *c)
{
	struct buffer body = {0};
	struct engine_counts counts = engine_counts(c->server->engine);
	metrics_write(&c->server->metrics, &counts, model_name(c->server), &body);
	reply(c, "text/plain; version=0.0.4; charset=utf-8", &body);
	buffer_release(&body);
}

/* As the same chat would be counted for an answer. */
static int count_chat(struct conn *c, struct slice body, int64_t *count, struct ipf_error *err)
{
	struct generate_request ask = {0};
	struct sequence sequence = {0};
	int parsed = generate_request_parse(&ask, &sequence, true, body, &c->server->options->ask, err);
	*count = parsed == 0 ? sequence.prompt_tokens : 0;
	generate_request_release(&ask);
	sequence_release(&sequence);
	return parsed < 0 ? -1 : 1;
}

static void post_tokenize(struct conn *c)
{
	struct jdoc doc = {0};
	struct buffer text = {0}, body = {0};
	struct ipf_error err = {0};
	struct slice in = buffer_all(&c->request.body);
	int64_t count = 0;
	int found = jdoc_parse(&doc, in.data ? in.data : "", in.len, &err);
	if (found == 0 && jdoc_type_of(&doc, jdoc_get(&doc, JDOC_ROOT, "messages")) == JDOC_LIST)
		found = count_chat(c, in, &count, &err);
	else if (found == 0 && (found = jdoc_get_text(&doc, JDOC_ROOT, "prompt", &text, &err)) > 0)
		count = generate_request_count(text.len);
	if (found > 0) {
		buffer_format(&body, "{\"count\":%lld,\"max_model_len\":%lld}", (long long)count,
		              (long long)c->server->options->model_len);
		reply(c, "application/json", &body);
	} else {
		fail(c, 400, NULL, found < 0 ? err.text : "prompt: missing");
	}
	jdoc_release(&doc);
	buffer_release(&text);
	buffer_release(&body);
}

static void post_chat(struct conn *c)
{
	job_begin(c, true, NULL, (struct slice){0}, false);
}

static void post_completions(struct conn *c)
{
	job_begin(c, false, NULL, (struct slice){0}, false);
}

static const struct {
	const char *method, *path;
	void (*answer)(struct conn *c);
	bool open; /* needs no key, and answers while the model loads */
} table[] = {
	{"POST", "/v1/chat/completions", post_chat, false},
	{"POST", "/v1/completions", post_completions, false},
	{"GET", "/v1/models", get_models, false},
	{"GET", "/health", get_health, false},
	{"GET", "/metrics", get_metrics, true},
	{"POST", "/tokenize", post_tokenize, false},
};

static bool key_fits(const struct conn *c, const struct dialect *dialect)
{
	const char *key = c->server->options->api_key;
	struct slice given = http_header(&c->request, "authorization");
	if (!key)
		return true;
	if (dialect && dialect->key_header)
		return slice_is(http_header(&c->request, dialect->key_header), key);
	return given.len > 7 && memcmp(given.data, "Bearer ", 7) == 0 &&
	       slice_is((struct slice){given.data + 7, given.len - 7}, key);
}

static bool loading(const struct conn *c)
{
	return clock_now() - c->server->begin_ns < c->server->options->loading_ns;
}

/* Another server's API: true where the path is one of its. */
static bool route_dialect(struct conn *c)
{
	struct slice model;
	bool streamed, post = slice_is(c->request.method, "POST");
	const struct dialect *d = post ? dialect_of_path(c->request.path, &model, &streamed) : NULL;
	if (!d && (post || !dialect_is_ready_path(c->request.path)))
		return false;
	if (loading(c))
		fail(c, 503, NULL, "the model is loading");
	else if (!d)
		get_health(c);
	else if (!key_fits(c, d))
		fail(c, 401, NULL, "no key, or a wrong one");
	else if (d->chat)
		post_chat(c);
	else
		job_begin(c, false, d, model, streamed);
	return true;
}

void route(struct conn *c)
{
	bool path_known = false;
	char allow[64] = "";
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		if (!slice_is(c->request.path, table[i].path))
			continue;
		path_known = true;
		if (!slice_is(c->request.method, table[i].method)) {
			snprintf(allow, sizeof allow, "Allow: %s\r\n", table[i].method);
			continue;
		}
		if (!table[i].open && loading(c))
			fail(c, 503, NULL, "the model is loading");
		else if (!table[i].open && table[i].answer != get_health && !key_fits(c, NULL))
			fail(c, 401, "WWW-Authenticate: Bearer\r\n", "no key, or a wrong one");
		else
			table[i].answer(c);
		return;
	}
	if (!path_known && route_dialect(c))
		return;
	if (path_known)
		fail(c, 405, allow, "this path does not take this method");
	else
		fail(c, 404, NULL, "no such path");
}
