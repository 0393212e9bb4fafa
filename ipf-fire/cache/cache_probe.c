#include "cache/cache_probe.h"

#include "absent.h"
#include "api/response.h"
#include "cache/cache_counters.h"
#include "clock.h"
#include "stats/rng.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#define WORDS      1200 /* fewer, if the server does not take so long a prompt … */
#define LEAST      150  /* … down to this */
#define METRICS_NS (5 * NS_PER_S)
#define COUNTED_NS (50 * NS_PER_MS) /* between two looks at the counters */
#define LOOKS      40               /* a server counts a request a moment after its response */

/* Each is a token or two in the usual vocabularies. */
static const char *const words[] = {"time",   "year",   "people", "way",    "day",   "man",   "thing", "woman",
                                    "life",   "child",  "world",  "school", "state", "house", "water", "table",
                                    "river",  "road",   "music",  "paper",  "light", "stone", "green", "north",
                                    "window", "garden", "horse",  "apple",  "bread", "cloud", "fire",  "glass"};

struct cache_probe {
	struct aside_client *client;
	size_t target;
	struct buffer prompt, model; /* JSON texts */
	int words;                   /* in the prompt */
	bool accepted;               /* the server took it: it stays as it is */
	struct aside_message message;
	struct aside_answer answer;
	struct response response;
	bool no_counters; /* the server has none, or reports usage */
};

static void add_text(struct buffer *json, const char *text)
{
	json_t *string = json_string(text);
	char *dumped = string ? json_dumps(string, JSON_ENCODE_ANY) : NULL;
	if (dumped)
		buffer_text(json, dumped);
	else
		json->failed = true;
	free(dumped);
	json_decref(string);
}

int cache_probe_new(struct cache_probe **probe, struct aside_client *client, size_t target, struct ipf_error *err)
{
	uint64_t seed;
	struct rng rng;
	const char *model = aside_client_options(client)->trace_model;
	struct cache_probe *p = *probe = calloc(1, sizeof *p);
	if (!p)
		return ipf_error_memory(err);
	p->client = client;
	p->target = target;
	if (getrandom(&seed, sizeof seed, 0) != sizeof seed)
		seed = (uint64_t)clock_now();
	rng_init(&rng, seed, "cache-probe", target);
	p->words = WORDS;
	buffer_byte(&p->prompt, '"');
	for (int i = 0; i < WORDS; i++)
		buffer_format(&p->prompt, i ? " %s" : "%s", words[rng_below(&rng, sizeof words / sizeof *words)]);
	buffer_byte(&p->prompt, '"');
	if (model)
		add_text(&p->model, model);
	return p->prompt.failed || p->model.failed ? ipf_error_memory(err) : 0;
}

void cache_probe_free(struct cache_probe *p)
{
	if (!p)
		return;
	buffer_release(&p->prompt);
	buffer_release(&p->model);
	aside_message_release(&p->message);
	aside_answer_release(&p->answer);
	response_release(&p->response);
	free(p);
}

static int read_counters(struct cache_probe *p, struct cache_counters *counters, struct ipf_error *err)
{
	const struct aside_call call = {.method = "GET", .path = "/metrics", .timeout_ns = METRICS_NS};
	*counters = (struct cache_counters){-1, -1};
	if (p->no_counters)
		return 0;
	int result = aside_client_call(p->client, p->target, &call, &p->answer, err);
	if (result == 0 && p->answer.status == 200)
		cache_counters_read(buffer_all(&p->answer.body), counters);
	p->no_counters = counters->hits < 0 || counters->queries < 0;
	return result;
}

/* Counters belong to the probe once the queries have grown. */
static int read_growth(struct cache_probe *p, const struct cache_counters *before, struct cache_sight *sight,
                       struct ipf_error *err)
{
	struct cache_counters now;
	for (int i = 0; i < LOOKS && !p->no_counters; i++) {
		if (read_counters(p, &now, err) < 0)
			return -1;
		if (now.hits >= 0 && now.queries > before->queries) {
			sight->counters = now.hits > before->hits ? (int64_t)(now.hits - before->hits) : 0;
			return 0;
		}
		if (now.hits < 0 || aside_client_wait(p->client, COUNTED_NS, err) < 0)
			break;
	}
	return err->kind ? -1 : 0;
}

static int read_usage(struct cache_probe *p, struct cache_sight *sight, struct ipf_error *err)
{
	const struct response_options options = {.tokens = NULL};
	if (aside_client_parse(p->client, &p->answer, &options, &p->response, err) < 0)
		return -1;
	sight->prompt_tokens = p->response.input_tokens;
	sight->usage = p->response.cached_tokens;
	p->no_counters |= sight->usage > 0;
	return 0;
}

/* -1: out of memory. 1: the API cannot carry a prompt of text. */
static int prepare(struct cache_probe *p, struct cache_sight *sight, struct ipf_error *err)
{
	struct trace_request q;
	struct ipf_error misfit = {0};
	if (p->message.body.len)
		return 0;
	trace_request_init(&q);
	q.id = slice_of("\"cache-probe\"");
	q.prompt = buffer_all(&p->prompt);
	q.model = p->model.len ? buffer_all(&p->model) : (struct slice){0};
	if (aside_client_prepare(p->client, &q, (struct slice){0}, &p->message, &misfit) == 0)
		return 0;
	snprintf(sight->why, sizeof sight->why, "%.200s", misfit.text);
	return misfit.kind == IPF_SYSTEM ? ipf_error_memory(err) : 1;
}

/* Halves the prompt. False: it is short enough for any server. */
static bool shorten(struct cache_probe *p)
{
	if (p->accepted || p->words / 2 < LEAST)
		return false;
	p->words /= 2;
	size_t len = 0;
	for (int spaces = 0; len < p->prompt.len && spaces < p->words; len++)
		spaces += p->prompt.data[len] == ' ';
	p->prompt.len = len - 1;
	buffer_byte(&p->prompt, '"');
	aside_message_release(&p->message);
	return true;
}

int cache_probe_send(struct cache_probe *p, struct cache_sight *sight, struct ipf_error *err)
{
	struct cache_counters before;
	*sight = (struct cache_sight){IPF_ABSENT, IPF_ABSENT, IPF_ABSENT, ""};
	int got = prepare(p, sight, err);
	if (got)
		return got < 0 ? -1 : 0;
	if (read_counters(p, &before, err) < 0 || aside_client_send(p->client, p->target, &p->message, &p->answer, err) < 0)
		return -1;
	if (p->answer.status == 400 && shorten(p))
		return cache_probe_send(p, sight, err);
	p->accepted = p->answer.status >= 200 && p->answer.status <= 299;
	if (p->accepted)
		return read_usage(p, sight, err) < 0 ? -1 : read_growth(p, &before, sight, err);
	if (p->answer.status)
		snprintf(sight->why, sizeof sight->why, "status %ld", p->answer.status);
	else
		snprintf(sight->why, sizeof sight->why, "%s", p->answer.why);
	return 0;
}
