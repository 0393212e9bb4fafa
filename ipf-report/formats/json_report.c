#include "formats/json_report.h"

#include "absent.h"
#include "figures/gap_positions.h"
#include "formats/json_accuracy.h"
#include "formats/json_analyses.h"
#include "formats/json_cache.h"
#include "formats/json_fidelity.h"
#include "formats/json_figures.h"
#include "formats/json_said.h"
#include "formats/json_saturation.h"
#include "formats/json_series.h"
#include "formats/json_server.h"
#include "formats/json_transport.h"

#include <math.h>
#include <stdlib.h>

static json_t *requests_json(const struct figures *f)
{
	json_t *json = json_object(), *errors = json_object();
	json_put_count(json, "scheduled", f->scheduled);
	if (!f->failures_unknown)
		json_put_count(json, "started", f->started);
	json_put_count(json, "ok", f->ok);
	if (!f->failures_unknown)
		json_put_count(json, "failed", f->failed);
	if (f->hung_up > 0)
		json_put_count(json, "hung_up", f->hung_up);
	json_put_count(json, "cut", f->cut);
	for (int i = 0; i < VERDICT_KINDS; i++)
		if (f->errors[i] > 0)
			json_put_count(errors, verdict_kinds[i], f->errors[i]);
	json_object_set_new(json, "errors", errors);
	if (f->stale > 0)
		json_put_count(json, "stale_resets", f->stale);
	return json;
}

static json_t *tokens_json(const struct figures *f, const struct report *report)
{
	const struct percentiles *list = &report->options->percentiles;
	json_t *json = json_object(), *residual = json_object(), *finish = json_object(), *counts = json_object();
	int used = 0, most = 0;
	json_put_object(json, "input", json_summary(&f->input, list));
	json_put_object(json, "output", json_summary(&f->output, list));
	json_put_object(json, "reasoning", json_summary(&f->reasoning, list));
	for (int i = 0; i < SOURCES; i++) {
		if (f->by_source[i] == 0)
			continue;
		used++;
		most = f->by_source[i] > f->by_source[most] ? i : most;
		json_put_count(counts, sources[i], f->by_source[i]);
	}
	if (used > 0)
		json_object_set_new(json, "source", json_string(sources[most]));
	json_put_object(json, "sources", used > 1 ? json_incref(counts) : json_object());
	json_decref(counts);
	json_put_object(json, "asked_input", json_summary(&f->asked_input, list));
	json_put_object(json, "asked_output", json_summary(&f->asked_output, list));
	for (int i = 0; i < RESIDUALS; i++) {
		const struct token_difference *r = &f->residuals[i];
		json_t *one = json_object();
		if (r->n > 0) {
			json_put_count(one, "n", r->n);
			json_put(one, "mean", r->mean);
			json_put(one, "min", r->min);
			json_put(one, "max", r->max);
			json_put(one, "share", r->share);
		}
		json_put_object(residual, r->name, one);
	}
	json_put_object(json, "residual", residual);
	for (int i = 0; i < report->run->finishes.count; i++)
		if (f->by_finish[i] > 0)
			json_put_count(finish, report->run->finishes.list[i], f->by_finish[i]);
	json_put_object(json, "finish_reasons", finish);
	json_put(json, "cached_share", f->cached_share);
	return json;
}

static json_t *latency_json(const struct figures *f, const struct percentiles *list)
{
	json_t *json = json_object();
	char name[32];
	for (enum metric m = 0; m < METRIC_LATENCIES; m++) {
		snprintf(name, sizeof name, "%s_ms", metrics[m].name);
		if (metrics[m].from_due) {
			json_t *both = json_object();
			json_put_object(both, "from_start", json_summary(&f->start[m], list));
			json_put_object(both, "from_due", json_summary(&f->due[m], list));
			json_put_object(json, name, both);
		} else {
			json_put_object(json, name, json_summary(&f->start[m], list));
		}
		if (m == METRIC_NTPOT)
			json_put_object(json, "itl_ms", json_summary(&f->itl, list));
	}
	return json;
}

/* Latencies with failures as infinite. */
static json_t *with_failures_json(const struct figures *f, const struct percentiles *list)
{
	json_t *json = json_object();
	char name[32];
	for (int i = 0; i < WAITED; i++) {
		snprintf(name, sizeof name, "%s_ms", metrics[waited_metrics[i]].name);
		json_put_object(json, name, json_summary(&f->with_failures[i], list));
	}
	return json;
}

static json_t *early_stopping_json(const struct figures *f)
{
	json_t *json = json_object();
	char name[32], percentile[24];
	for (int i = 0; i < WAITED; i++) {
		json_t *one = json_object();
		for (int k = 0; k < EARLY_PERCENTILES; k++)
			json_put(one, percentile_name(early_percentiles[k], percentile), f->early[i][k]);
		snprintf(name, sizeof name, "%s_ms", metrics[waited_metrics[i]].name);
		json_put_object(json, name, one);
	}
	return json;
}

static void put_latencies(json_t *json, const struct figures *f, const struct percentiles *list)
{
	json_object_set_new(json, "latency", latency_json(f, list));
	json_put_object(json, "latency_with_failures", with_failures_json(f, list));
	json_put_object(json, "early_stopping", early_stopping_json(f));
}

static json_t *goodput_json(const struct figures *f, const struct slo *slo)
{
	json_t *json = json_object(), *objectives = json_array();
	if (f->judged > 0) {
		json_put(json, "requests_per_s", f->goodput);
		json_put(json, "share", f->good_share);
		json_put_count(json, "good", f->good);
		json_put_count(json, "of", f->judged);
	}
	if (f->left_out > 0)
		json_put_count(json, "left_out", f->left_out);
	if (f->unmeasured > 0)
		json_put_count(json, "unmeasured", f->unmeasured);
	for (int i = 0; i < slo->count; i++) {
		const struct objective *objective = &slo->list[i];
		const struct attainment *a = &f->objectives[i];
		json_t *one = json_pack("{s:s}", "objective", objective->text);
		json_put(one, "limit_ms", (double)objective->limit_ns / 1e6);
		json_put(one, "share", a->share);
		json_put(one, "value_ms", a->value_ms);
		if (a->unmeasured > 0)
			json_put_count(one, "unmeasured", a->unmeasured);
		if (!isnan(a->value_ms))
			json_object_set_new(one, "met", json_boolean(a->met));
		json_array_append_new(objectives, one);
	}
	if (json_array_size(objectives) > 0)
		json_object_set(json, "objectives", objectives);
	json_decref(objectives);
	return json;
}

static json_t *not_streamed_json(const struct figures *f)
{
	json_t *json = json_object();
	for (int i = 0; i < RESULT_NOT_STREAMED_COUNT; i++)
		if (f->not_streamed[i] > 0)
			json_put_count(json, result_not_streamed_names[i], f->not_streamed[i]);
	return json;
}

static json_t *events_json(const struct figures *f)
{
	json_t *json = json_object();
	if (f->events == 0)
		return json;
	json_put_count(json, "content", f->events);
	if (f->reads_known) {
		json_put_count(json, "coalesced", f->coalesced);
		json_put(json, "coalesced_share", (double)f->coalesced / (double)f->events);
	}
	if (f->stalls_known) {
		json_put_count(json, "stalls", f->stalls);
		json_put_count(json, "stalled_requests", f->stalled);
	}
	return json;
}

static json_t *figures_json(const struct figures *f, const struct report *report);

static void put_groups(json_t *json, const struct figures *f, const struct report *report)
{
	for (enum grouping by = 0; by < GROUPINGS; by++) {
		if (!f->groups[by])
			continue;
		json_t *groups = json_object();
		char name[24];
		for (int i = 0; i < report->figures->group_counts[by]; i++)
			if (figures_requests(&f->groups[by][i]) > 0)
				json_object_set_new(groups, f->groups[by][i].name, figures_json(&f->groups[by][i], report));
		snprintf(name, sizeof name, "by_%s", groupings[by]);
		json_object_set_new(json, name, groups);
		if (f->total && report->figures->group_counts[by] < report->run->groups[by].count)
			json_put_count(json, "groups_left_out", report->run->groups[by].count - report->figures->group_counts[by]);
	}
}

static json_t *figures_json(const struct figures *f, const struct report *report)
{
	const struct percentiles *list = &report->options->percentiles;
	json_t *json = json_object(), *rate = json_object(), *throughput = json_object(), *flight = json_object();
	json_object_set_new(json, "name", json_string(f->name));
	if (f->kind)
		json_object_set_new(json, "kind", json_string(f->kind));
	json_object_set_new(json, "measured", json_boolean(f->measured));
	json_put(json, "window_s", f->window_s);
	json_object_set_new(json, "requests", requests_json(f));
	json_put(rate, "offered", f->offered);
	json_put(rate, "achieved", f->achieved);
	json_put(rate, "completed", f->completed);
	json_object_set_new(json, "rate", rate);
	json_put_object(json, "lag_ms", json_summary(&f->start[METRIC_LAG], list));
	json_put_object(json, "client_lag_ms", json_summary(&f->start[METRIC_CLIENT_LAG], list));
	json_put_object(json, "slot_wait_ms", json_summary(&f->start[METRIC_SLOT_WAIT], list));
	json_put(throughput, "requests_per_s", f->completed);
	json_put(throughput, "input_tokens_per_s", f->input_per_s);
	json_put(throughput, "output_tokens_per_s", f->output_per_s);
	json_put(throughput, "total_tokens_per_s", f->total_per_s);
	if (f->no_throughput)
		json_object_set_new(throughput, "absent", json_string(f->no_throughput));
	json_object_set_new(json, "throughput", throughput);
	json_object_set_new(json, "tokens", tokens_json(f, report));
	put_latencies(json, f, list);
	json_put_object(json, "accuracy", json_accuracy(report, f));
	json_put_object(json, "events", events_json(f));
	json_put_object(json, "not_streamed", not_streamed_json(f));
	if (f->went_on > 0)
		json_object_set_new(
			json, "after_end",
			json_pack("{s:I, s:I}", "responses", (json_int_t)f->went_on, "events", (json_int_t)f->after_end));
	if (f->deadlines > 0)
		json_object_set_new(json, "fluidity",
		                    json_pack("{s:I, s:I, s:o}", "deadlines", (json_int_t)f->deadlines, "met",
		                              (json_int_t)f->deadlines_met, "share",
		                              json_figure((double)f->deadlines_met / (double)f->deadlines)));
	json_put(flight, "mean", f->in_flight_mean);
	json_put(flight, "max", f->in_flight_max);
	json_put(flight, "little", f->little);
	json_object_set_new(json, "in_flight", flight);
	json_put_object(json, "goodput", goodput_json(f, report->run->slo));
	put_groups(json, f, report);
	return json;
}

/* Adds the gaps of a stage, or of all measured ones for -1, by their position in the answer. */
static void put_positions(json_t *json, const struct report *report, int32_t stage)
{
	struct gap_positions found;
	json_t *list = json_array();
	int got = gap_positions_find(&found, report->run, stage);
	for (int i = 0; got > 0 && i < found.count; i++) {
		struct metric_summary summary;
		const struct percentiles *percentiles = &report->options->percentiles;
		metric_summary_of_histogram(&summary, found.list[i].gaps, 1e-6, percentiles);
		json_t *one = json_pack("{s:I, s:I}", "from", (json_int_t)found.list[i].from, "to",
		                        (json_int_t)found.list[i].to),
			   *figures = json_summary(&summary, percentiles);
		json_object_update(one, figures);
		json_decref(figures);
		json_array_append_new(list, one);
	}
	gap_positions_release(&found);
	if (json_array_size(list) > 0)
		json_object_set(json, "itl_by_position_ms", list);
	json_decref(list);
}

/* Why requests failed, the most frequent reason first. */
static json_t *failures_json(const struct failure_tally *t)
{
	json_t *list = json_array();
	for (int i = 0; i < t->count; i++) {
		const struct failure *f = &t->list[i];
		json_t *one = json_pack("{s:s}", "kind", f->kind);
		if (f->status != IPF_ABSENT)
			json_put_count(one, "status", f->status);
		json_put_count(one, "count", f->count);
		if (f->text[0])
			json_object_set_new(one, "text", json_string(f->text));
		if (failure_hint(f))
			json_object_set_new(one, "hint", json_string(failure_hint(f)));
		json_array_append_new(list, one);
	}
	return list;
}

json_t *report_json(const struct report *report)
{
	json_t *stages = json_array(), *json = json_object();
	for (size_t i = 0; i < report->figures->count; i++) {
		json_array_append_new(stages, figures_json(&report->figures->stages[i], report));
		put_positions(json_array_get(stages, i), report, (int32_t)i);
	}
	json_object_set_new(json, "ipf", json_string("report"));
	json_object_set_new(json, "version", json_integer(1));
	json_object_set(json, "verdict", report->verdict);
	json_object_set(json, "run", report->run_info);
	json_object_set_new(json, "stages", stages);
	if (json_array_size(report->run->steady) > 0)
		json_object_set(json, "steady", report->run->steady);
	if (report->run->failures.count)
		json_object_set_new(json, "errors", failures_json(&report->run->failures));
	json_object_set_new(json, "total", figures_json(&report->figures->total, report));
	put_positions(json_object_get(json, "total"), report, -1);
	json_put_object(json, "accuracy", json_run_accuracy(report));
	json_t *clocks = run_data_clocks(report->run);
	if (clocks)
		json_object_set(json, "clocks", clocks);
	json_decref(clocks);
	json_t *transport = json_transport(report->run);
	if (json_array_size(transport) > 0)
		json_object_set(json, "transport", transport);
	json_decref(transport);
	json_put_object(json, "saturation", json_saturation(report));
	json_put_object(json, "autoscaling", json_autoscaling(report));
	json_put_object(json, "sessions", json_sessions(report));
	json_put_object(json, "repeats", json_repeats(report));
	json_put_object(json, "cache", json_cache(report));
	json_put_object(json, "fidelity", json_fidelity(report));
	json_put_object(json, "series", json_series(report));
	json_put_object(json, "server", json_server(report));
	json_t *accelerators = json_accelerators(report);
	if (json_array_size(accelerators) > 0)
		json_object_set(json, "accelerators", accelerators);
	json_decref(accelerators);
	json_put_object(json, "cost", json_cost(report));
	json_put_object(json, "as", json_said(report));
	return json;
}
