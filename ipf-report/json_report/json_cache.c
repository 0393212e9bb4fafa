#include "absent.h"
#include "figures/figures.h"
#include "figures/server_figures.h"
#include "json_report/json_figures.h"
#include "json_report/json_report.h"
#include "workload/trace_findings.h"

#include <math.h>
#include <stdio.h>

static double share(int64_t part, int64_t of)
{
	return of > 0 ? (double)part / (double)of : NAN;
}

static json_t *reported_json(const struct cache_truth *t)
{
	const struct cache_sums *r = &t->reported;
	json_t *json = json_object();
	char name[24];
	if (r->requests == 0)
		return json;
	json_put_count(json, "requests", r->requests);
	json_put_count(json, "prompt_tokens", r->prompt);
	json_put_count(json, "ideal_tokens", r->ideal);
	json_put_count(json, "tokens", r->found);
	json_put(json, "share", share(r->found, r->prompt));
	json_put_count(json, "gap_tokens", r->ideal - r->found);
	json_put(json, "gap_share", share(r->ideal - r->found, r->prompt));
	for (int i = 0; i < CACHE_TIERS; i++) {
		snprintf(name, sizeof name, "%s_tokens", cache_tiers[i]);
		json_put_count(json, name, t->tiers[i]);
	}
	return json;
}

static json_t *point_json(const struct cache_point *p)
{
	json_t *json = json_object();
	if (isnan(p->share))
		return json;
	json_put_count(json, "tokens", p->tokens);
	json_put_count(json, "ideal_tokens", p->ideal);
	json_put(json, "share", p->share);
	return json;
}

static json_t *series_json(const struct cache_truth *t)
{
	json_t *json = json_object(), *list = json_array();
	if (t->interval_count > 1) {
		json_put(json, "from_s", (double)t->first_ns / 1e9);
		json_put(json, "every_s", (double)t->every_ns / 1e9);
		for (int i = 0; i < t->interval_count; i++) {
			const struct cache_interval *at = &t->intervals[i];
			json_t *one = json_object();
			json_put_count(one, "requests", at->all.requests);
			json_put_count(one, "prompt_tokens", at->all.prompt);
			json_put_count(one, "ideal_tokens", at->all.ideal);
			if (at->reported.requests == at->all.requests && at->all.requests > 0)
				json_put_count(one, "tokens", at->reported.found);
			json_array_append_new(list, one);
		}
	}
	json_put_object(json, "intervals", list);
	return json;
}

static json_t *sessions_json(const struct cache_truth *t, const struct percentiles *percentiles)
{
	json_t *json = json_object(), *worst = json_array();
	if (t->sessions > 0) {
		json_put_count(json, "count", t->sessions);
		json_put_object(json, "ideal_share", json_summary(&t->ideal_share, percentiles));
		json_put_object(json, "share", json_summary(&t->found_share, percentiles));
		for (int i = 0; i < t->worst_count; i++) {
			const struct cache_session *s = &t->worst[i];
			json_array_append_new(worst, json_pack("{s:s, s:I, s:I, s:I, s:I}", "session", s->name, "requests",
			                                       (json_int_t)s->sums.requests, "prompt_tokens",
			                                       (json_int_t)s->sums.prompt, "ideal_tokens",
			                                       (json_int_t)s->sums.ideal, "tokens", (json_int_t)s->sums.found));
		}
	}
	json_put_object(json, "worst", worst);
	return json;
}

static json_t *warm_json(const struct cache_truth *t)
{
	json_t *json = json_object();
	if (t->no_warm) {
		json_put_text(json, "absent", t->no_warm);
	} else if (t->warm_of > 0) {
		json_put_count(json, "tokens", t->warm);
		json_put_count(json, "of_tokens", t->warm_of);
		json_put(json, "share", share(t->warm, t->warm_of));
	}
	return json;
}

/* The common beginnings of the recorded prompts; NULL: the trace does not have them. */
static json_t *recorded_json(const struct workload *w)
{
	const struct prefix_reuse *r = &w->recorded;
	json_t *json = r->block_count || w->recorded_cut ? json_object() : NULL;
	if (w->recorded_cut) {
		json_put_text(json, "absent", "the trace has too many recorded blocks");
	} else if (json && r->tokens == IPF_ABSENT) {
		json_put_text(json, "absent", "the recorded tokens are more than can be counted");
	} else if (json) {
		json_put_count(json, "requests", (int64_t)r->count);
		json_put_count(json, "prompt_tokens", r->tokens);
		json_put_count(json, "ideal_tokens", r->hit_tokens);
		json_put(json, "ideal_share", share(r->hit_tokens, r->tokens));
	}
	return json;
}

json_t *json_cache(const struct report *report)
{
	const struct cache_truth *t = &report->trace->cache;
	json_t *json = json_object(), *curve = json_array();
	if (report->trace->given)
		json_put_text(json, "absent", t->absent);
	if (report->trace->given && !t->absent) {
		json_put_count(json, "block_tokens", t->server_block ? t->server_block : t->block_tokens);
		json_put_text(json, "block_from", t->block_from);
		json_put_count(json, "requests", t->all.requests);
		json_put_count(json, "prompt_tokens", t->all.prompt);
		json_put_count(json, "ideal_tokens", t->all.ideal);
		json_put(json, "ideal_share", share(t->all.ideal, t->all.prompt));
		json_put_object(json, "recorded", recorded_json(&report->trace->workload));
		json_put_object(json, "reported", reported_json(t));
		if (report->servers->count > 0)
			json_put(json, "counters_share", report->servers->hit_rate);
		for (int i = 0; i < t->curve_count; i++)
			json_array_append_new(curve, point_json(&t->curve[i]));
		json_object_set(json, "curve", curve);
		json_put_object(json, "size", point_json(&t->size));
		json_put_object(json, "series", series_json(t));
		json_put_object(json, "sessions", sessions_json(t, &report->options->percentiles));
		if (t->reported.requests > 0)
			json_put_object(json, "warm", warm_json(t));
	}
	json_decref(curve);
	return json;
}
