#include "cache/cache_state.h"

#include "cache/cache_reset.h"
#include "cache/cache_warm.h"
#include "safe_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const cache_choice_names[CACHE_CHOICES + 1] = {"cold", "try-cold", "warm", "as-is", NULL};

struct cache_state {
	struct cache_state_options o;
	enum cache_choice declared; /* CACHE_CHOICES: nothing */
	struct aside_client *client;
	json_t *before, *between; /* resets */
	json_t *warmed;           /* NULL: nothing was sent */
};

static size_t targets_of(const struct cache_state *s)
{
	return s->o.client.endpoint->count;
}

static void warn(const struct cache_state *s, const char *text, const char *why)
{
	if (!s->o.quiet)
		fprintf(stderr, "ipf-fire: warning: %s: %s\n", text, shown(why).text);
}

static int open_client(struct cache_state *s, struct ipf_error *err)
{
	if (s->client)
		return 0;
	if (!api_cache_resets(s->o.client.api)->count)
		return ipf_error_set(err, IPF_USAGE, "the API %s has no cache_reset, which a cold cache needs (ipf-api(5))",
		                     api_name(s->o.client.api));
	return aside_client_open(&s->client, &s->o.client, err);
}

static int make_cold(struct cache_state *s, struct ipf_error *err)
{
	enum cache_outcome outcome;
	char why[ASIDE_WHY];
	if (open_client(s, err) < 0 || cache_reset(s->client, targets_of(s), &outcome, why, s->before, err) < 0)
		return -1;
	if (outcome == CACHE_MISSING)
		return ipf_error_at(err, IPF_SYSTEM, s->o.client.endpoint->targets[0].shown, 0,
		                    "the prefix cache cannot be reset: %s", why);
	if (outcome != CACHE_VERIFIED)
		warn(s, outcome == CACHE_UNVERIFIED ? "the prefix cache may not be cold" : "the prefix cache is not cold", why);
	return 0;
}

static int try_cold(struct cache_state *s, struct ipf_error *err)
{
	enum cache_outcome outcome = CACHE_MISSING;
	char why[ASIDE_WHY] = "the API has no cache_reset (ipf-api(5))";
	bool can = api_cache_resets(s->o.client.api)->count > 0;
	if (s->o.as_is)
		snprintf(why, sizeof why, "%s", s->o.as_is);
	else if (can &&
	         (open_client(s, err) < 0 || cache_reset(s->client, targets_of(s), &outcome, why, s->before, err) < 0))
		return -1;
	s->declared = outcome == CACHE_VERIFIED ? CACHE_COLD : CACHE_AS_IS;
	if (s->declared == CACHE_AS_IS && !s->o.quiet)
		fprintf(stderr, "ipf-fire: the prefix cache stays as it is: %s\n", shown(why).text);
	return 0;
}

static int make_warm(struct cache_state *s, struct ipf_error *err)
{
	const struct cache_warm_options how = {
		.client = s->o.client, .schedule = s->o.file, .trace = s->o.trace, .targets = targets_of(s)};
	struct cache_warm_counts c;
	if (cache_warm(&how, &c, err) < 0)
		return -1;
	if (c.failed == c.requests)
		return ipf_error_set(err, IPF_SYSTEM, "--cache warm: %s: %s",
		                     c.requests ? "all requests failed" : "no prompt could be sent", c.why);
	s->warmed = json_pack("{s:I, s:I, s:I, s:I}", "requests", (json_int_t)c.requests, "failed", (json_int_t)c.failed,
	                      "left_out", (json_int_t)c.left_out, "took_ns", (json_int_t)c.took_ns);
	if (c.failed)
		warn(s, "the prefix cache lacks prompts: requests failed", c.why);
	return s->warmed ? 0 : ipf_error_memory(err);
}

static bool has_cold_stages(const struct schedule *schedule)
{
	for (size_t i = 0; i < schedule->count; i++)
		if (schedule->stages[i].cold)
			return true;
	return false;
}

bool cache_state_needed(enum cache_choice choice, const struct schedule *schedule)
{
	return choice < CACHE_AS_IS || has_cold_stages(schedule);
}

int cache_state_prepare(struct cache_state **state, const struct cache_state_options *options, struct ipf_error *err)
{
	struct cache_state *s = *state = calloc(1, sizeof *s);
	if (!s)
		return ipf_error_memory(err);
	s->o = *options;
	/* the first stage's declaration is the run's */
	bool first = options->schedule->count && options->schedule->stages[0].cold;
	if (first && options->choice == CACHE_WARM)
		return ipf_error_set(err, IPF_USAGE, "--cache warm: the first stage has cache=cold");
	if (first)
		s->o.choice = CACHE_COLD;
	s->declared = s->o.choice;
	if (s->declared == CACHE_CHOICES && has_cold_stages(options->schedule))
		s->declared = CACHE_AS_IS;
	s->before = json_array();
	s->between = json_array();
	if (!s->before || !s->between)
		return ipf_error_memory(err);
	if (has_cold_stages(options->schedule) && open_client(s, err) < 0)
		return -1;
	switch (s->o.choice) {
	case CACHE_COLD:
		return make_cold(s, err);
	case CACHE_TRY_COLD:
		return try_cold(s, err);
	case CACHE_WARM:
		return make_warm(s, err);
	default:
		return 0;
	}
}

int cache_state_reset(struct cache_state *s, const struct cache_state_moment *moment, struct ipf_error *err)
{
	enum cache_outcome outcome;
	char why[ASIDE_WHY], text[160];
	json_t *list = json_array(), *one;
	size_t i;
	aside_client_stop_at(s->client, moment->stop_fd);
	int result = cache_reset(s->client, targets_of(s), &outcome, why, list, err);
	json_array_foreach(list, i, one)
	{
		json_object_set_new(one, "stage", json_integer(moment->stage));
		json_object_set_new(one, "t_ns", json_integer(moment->t_ns));
	}
	if (result == 0 && json_array_extend(s->between, list) < 0)
		result = ipf_error_memory(err);
	json_decref(list);
	snprintf(text, sizeof text, "the prefix cache %s before stage %.80s",
	         outcome == CACHE_UNVERIFIED ? "may not be cold" : "is not cold",
	         shown(s->o.schedule->stages[moment->stage].name).text);
	if (result == 0 && outcome != CACHE_VERIFIED)
		warn(s, text, why);
	return result;
}

int cache_state_header(const struct cache_state *s, json_t *header)
{
	int bad = 0;
	if (s->declared != CACHE_CHOICES)
		bad |= json_object_set_new(header, "cache", json_string(cache_choice_names[s->declared]));
	if (json_array_size(s->before))
		bad |= json_object_set(header, "cache_reset", s->before);
	if (s->warmed)
		bad |= json_object_set(header, "cache_warm", s->warmed);
	return bad ? -1 : 0;
}

int cache_state_trailer(const struct cache_state *s, json_t *end)
{
	return json_array_size(s->between) ? json_object_set(end, "cache_reset", s->between) : 0;
}

void cache_state_free(struct cache_state *s)
{
	if (!s)
		return;
	aside_client_close(s->client);
	json_decref(s->before);
	json_decref(s->between);
	json_decref(s->warmed);
	free(s);
}
