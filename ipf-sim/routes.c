#include "server.h"

#include "answer.h"
#include "audio.h"
#include "batches.h"
#include "clock.h"
#include "dialect.h"
#include "exposition.h"
#include "gpu_exporters.h"
#include "hostile_metrics.h"
#include "kube_metrics.h"
#include "json/jout.h"
#include "speech.h"
#include "tokenize.h"

#include <string.h>

#define EXPOSITION "text/plain; version=0.0.4; charset=utf-8"

bool server_has_model(const struct server_options *options, const char *name)
{
	bool found = options->model_count == 0;
	for (size_t i = 0; !found && i < options->model_count; i++)
		found = strcmp(options->models[i], name) == 0;
	for (size_t i = 0; !found && i < options->adapter_count; i++)
		found = strcmp(options->adapters[i], name) == 0;
	return found;
}

const char *server_model(const struct server_options *options, size_t i)
{
	if (options->model_count == 0)
		return i == 0 ? "sim" : i - 1 < options->adapter_count ? options->adapters[i - 1] : NULL;
	if (i < options->model_count)
		return options->models[i];
	return i - options->model_count < options->adapter_count ? options->adapters[i - options->model_count] : NULL;
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

/* Metrics, or as changed by --metrics-mode. */
static void reply_metrics(struct conn *c, struct buffer *body)
{
	enum scrape_mode mode = c->server->options->scrape_mode;
	if (mode == SCRAPE_HANG)
		return;
	if (mode == SCRAPE_FAIL) {
		fail(c, 500, NULL, "no metrics today");
		return;
	}
	if (mode == SCRAPE_DIE) {
		answer_plain(&c->out, 200, EXPOSITION, NULL, buffer_all(body), c->request.keep_alive);
		c->out.bytes.len -= body->len - body->len / 2;
		c->then = CONN_CLOSE;
		conn_answered(c);
		return;
	}
	c->unbounded = mode == SCRAPE_HUGE;
	hostile_metrics(mode, body);
	reply(c, EXPOSITION, body);
}

static void get_models(struct conn *c)
{
	const struct server_options *options = c->server->options;
	struct buffer body = {0};
	struct jout w = {.out = &body};
	const char *name;
	buffer_text(&body, "{\"object\":\"list\",\"data\":");
	jout_begin_list(&w);
	for (size_t i = 0; (name = server_model(options, i)) != NULL; i++) {
		jout_begin_map(&w);
		jout_member_string(&w, "id", slice_of(name));
		jout_member_string(&w, "object", slice_of("model"));
		jout_member_int(&w, "created", 1700000000);
		jout_member_string(&w, "owned_by", slice_of("ipf-sim"));
		jout_member_string(&w, "root", slice_of(name));
		jout_key(&w, "parent");
		if (i < (options->model_count ? options->model_count : 1))
			jout_null(&w);
		else
			jout_string0(&w, server_model(options, 0));
		jout_member_int(&w, "max_model_len", options->model_len);
		jout_end_map(&w);
	}
	jout_end_list(&w);
	buffer_byte(&body, '}');
	reply(c, "application/json", &body);
	buffer_release(&body);
}

static void get_health(struct conn *c)
{
	struct buffer nothing = {0};
	reply(c, "text/plain; charset=utf-8", &nothing);
}

/* Another server's metrics, or our own: true if the path is one of these. */
static bool route_metrics(struct conn *c)
{
	const struct metrics_style *style = metrics_styles;
	struct buffer body = {0}, running = {0}, waiting = {0};
	while (style->path && !slice_is(c->request.path, style->path))
		style++;
	if (!style->path)
		return false;
	if (!slice_is(c->request.method, "GET")) {
		fail(c, 405, "Allow: GET\r\n", "this path does not take this method");
		return true;
	}
	struct metrics_view view = server_metrics(c->server, &running, &waiting);
	style->write(&view, &body);
	c->server->totals.scrapes += style == metrics_styles;
	exposition_family(&body, "ipf_sim_scrapes_total", "Scrapes of /metrics so far.", "counter");
	buffer_format(&body, "ipf_sim_scrapes_total %lld\n", (long long)c->server->totals.scrapes);
	reply_metrics(c, &body);
	buffer_release(&body);
	buffer_release(&running);
	buffer_release(&waiting);
	return true;
}

static void get_devices(struct conn *c, void (*write)(struct gpus *gpus, int64_t now_ns, struct buffer *out))
{
	struct buffer body = {0};
	int64_t now_ns = clock_now();
	server_catch_up(c->server, now_ns);
	if (c->server->gpus) {
		write(c->server->gpus, now_ns, &body);
		reply_metrics(c, &body);
	} else {
		fail(c, 404, NULL, "there are no devices: see --gpus");
	}
	buffer_release(&body);
}

static void get_dcgm(struct conn *c)
{
	get_devices(c, gpu_write_dcgm);
}

static void get_amd(struct conn *c)
{
	get_devices(c, gpu_write_amd);
}

static void get_replicas(struct conn *c)
{
	struct buffer body = {0};
	server_catch_up(c->server, clock_now());
	kube_metrics_write(&c->server->replicas, &body);
	reply_metrics(c, &body);
	buffer_release(&body);
}

static void post_tokens(struct conn *c, int (*answer)(const struct server_options *options, struct slice body,
                                                      struct buffer *out, struct ipf_error *err))
{
	struct buffer body = {0};
	struct ipf_error err = {0};
	int status = answer(c->server->options, buffer_all(&c->request.body), &body, &err);
	if (status == 200)
		reply(c, "application/json", &body);
	else
		fail(c, status, NULL, err.text);
	buffer_release(&body);
}

static void post_tokenize(struct conn *c)
{
	post_tokens(c, tokenize);
}

static void post_detokenize(struct conn *c)
{
	post_tokens(c, detokenize);
}

static void post_chat(struct conn *c)
{
	job_begin(c, true, NULL, (struct slice){0}, false);
}

static void post_completions(struct conn *c)
{
	job_begin(c, false, NULL, (struct slice){0}, false);
}

/* As vLLM: status 200 even if running requests prevent the reset. */
static void post_reset(struct conn *c)
{
	enum cache_reset mode = c->server->options->cache_reset;
	struct buffer body = {0};
	if (mode == RESET_MISSING) {
		fail(c, 404, NULL, "no such path");
		return;
	}
	if (mode == RESET_FAILS) {
		fail(c, 500, NULL, "the prefix cache cannot be reset");
		return;
	}
	server_catch_up(c->server, clock_now());
	bool done = mode == RESET_LIES || batching_reset_prefixes(c->server->engine);
	buffer_format(&body, "{\"success\":%s}", done ? "true" : "false");
	reply(c, "application/json", &body);
	buffer_release(&body);
}

/* llama.cpp's slots: to erase slot 0 empties the whole cache. */
static void get_slots(struct conn *c)
{
	struct buffer body = {0};
	buffer_text(&body, "[{\"id\":0},{\"id\":1}]");
	reply(c, "application/json", &body);
	buffer_release(&body);
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
	{"GET", "/kube/metrics", get_replicas, true},
	{"GET", "/dcgm/metrics", get_dcgm, true},
	{"GET", "/amd/metrics", get_amd, true},
	{"POST", "/tokenize", post_tokenize, false},
	{"POST", "/detokenize", post_detokenize, false},
	{"POST", "/reset_prefix_cache", post_reset, false},
	{"POST", "/sglang/flush_cache", post_reset, false},
	{"GET", "/llama-cpp/slots", get_slots, false},
	{"POST", "/llama-cpp/slots/0", post_reset, false},
	{"POST", "/llama-cpp/slots/1", post_reset, false},
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

/* A batch of inputs, or audio: true where the path is one of those. */
static bool route_plain(struct conn *c)
{
	if (!batches_has_path(c->request.path) && !audio_has_path(c->request.path) &&
	    !slice_is(c->request.path, SPEECH_PATH))
		return false;
	if (!slice_is(c->request.method, "POST"))
		fail(c, 405, "Allow: POST\r\n", "this path does not take this method");
	else if (loading(c))
		fail(c, 503, NULL, "the model is loading");
	else if (!key_fits(c, NULL))
		fail(c, 401, "WWW-Authenticate: Bearer\r\n", "no key, or a wrong one");
	else if (!batches_answer(c) && !audio_answer(c))
		speech_answer(c);
	return true;
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
	if (route_metrics(c))
		return;
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
	if (!path_known && (route_plain(c) || route_dialect(c)))
		return;
	if (path_known)
		fail(c, 405, allow, "this path does not take this method");
	else
		fail(c, 404, NULL, "no such path");
}
