/* -f json: the object that ipf-report(1) describes. A figure that does not exist is omitted. */
#include "absent.h"
#include "formats/report_format.h"

#include <math.h>
#include <stdlib.h>

/* At most six decimals. */
static json_t *number(double value)
{
	return isinf(value) ? json_string("inf") : json_real(round(value * 1e6) / 1e6);
}

static void put(json_t *to, const char *name, double value)
{
	if (!isnan(value))
		json_object_set_new(to, name, number(value));
}

static void put_count(json_t *to, const char *name, int64_t value)
{
	if (value != IPF_ABSENT)
		json_object_set_new(to, name, json_integer(value));
}

/* Adds an object unless it is empty; takes it over. */
static void put_object(json_t *to, const char *name, json_t *value)
{
	if (json_object_size(value) > 0)
		json_object_set(to, name, value);
	json_decref(value);
}

static json_t *summary_json(const struct metric_summary *d, const struct percentiles *list)
{
	json_t *json = json_object();
	char name[24];
	if (d->n == 0)
		return json;
	put_count(json, "n", d->n);
	put(json, "mean", d->mean);
	put(json, "std", d->std);
	put(json, "min", d->min);
	for (int i = 0; i < list->count; i++)
		put(json, percentile_name(list->p[i], name), d->at[i]);
	put(json, "max", d->max);
	if (!isnan(d->low))
		json_object_set_new(json, "ci95", json_pack("[o, o]", number(d->low), number(d->high)));
	return json;
}

static json_t *requests_json(const struct figures *b)
{
	json_t *json = json_object(), *errors = json_object();
	put_count(json, "scheduled", b->scheduled);
	put_count(json, "started", b->started);
	put_count(json, "ok", b->ok);
	put_count(json, "failed", b->failed);
	if (b->hung_up > 0)
		put_count(json, "hung_up", b->hung_up);
	put_count(json, "cut", b->cut);
	for (int i = 0; i < VERDICT_KINDS; i++)
		if (b->errors[i] > 0)
			put_count(errors, verdict_kinds[i], b->errors[i]);
	json_object_set_new(json, "errors", errors);
	if (b->stale > 0)
		put_count(json, "stale_resets", b->stale);
	return json;
}

static json_t *tokens_json(const struct figures *b, const struct report *report)
{
	const struct percentiles *list = &report->options->percentiles;
	json_t *json = json_object(), *residual = json_object(), *finish = json_object(), *counts = json_object();
	int used = 0, most = 0;
	put_object(json, "input", summary_json(&b->input, list));
	put_object(json, "output", summary_json(&b->output, list));
	put_object(json, "reasoning", summary_json(&b->reasoning, list));
	for (int i = 0; i < SOURCES; i++) {
		if (b->by_source[i] == 0)
			continue;
		used++;
		most = b->by_source[i] > b->by_source[most] ? i : most;
		put_count(counts, sources[i], b->by_source[i]);
	}
	if (used > 0)
		json_object_set_new(json, "source", json_string(sources[most]));
	put_object(json, "sources", used > 1 ? json_incref(counts) : json_object());
	json_decref(counts);
	put_object(json, "asked_input", summary_json(&b->asked_input, list));
	put_object(json, "asked_output", summary_json(&b->asked_output, list));
	for (int i = 0; i < RESIDUALS; i++) {
		const struct residual *r = &b->residuals[i];
		json_t *one = json_object();
		if (r->n > 0) {
			put_count(one, "n", r->n);
			put(one, "mean", r->mean);
			put(one, "min", r->min);
			put(one, "max", r->max);
			put(one, "share", r->share);
		}
		put_object(residual, r->name, one);
	}
	put_object(json, "residual", residual);
	for (int i = 0; i < report->run->finishes.count; i++)
		if (b->by_finish[i] > 0)
			put_count(finish, report->run->finishes.list[i], b->by_finish[i]);
	put_object(json, "finish_reasons", finish);
	put(json, "cached_share", b->cached_share);
	return json;
}

static json_t *latency_json(const struct figures *b, const struct percentiles *list)
{
	json_t *json = json_object();
	char name[32];
	for (enum metric m = 0; m < METRIC_LATENCIES; m++) {
		snprintf(name, sizeof name, "%s_ms", metrics[m].name);
		if (metrics[m].from_due) {
			json_t *both = json_object();
			put_object(both, "from_start", summary_json(&b->start[m], list));
			put_object(both, "from_due", summary_json(&b->due[m], list));
			put_object(json, name, both);
		} else {
			put_object(json, name, summary_json(&b->start[m], list));
		}
		if (m == METRIC_NTPOT)
			put_object(json, "itl_ms", summary_json(&b->itl, list));
	}
	return json;
}

static json_t *goodput_json(const struct figures *b, const struct slo *slo)
{
	json_t *json = json_object(), *objectives = json_array();
	if (b->judged > 0) {
		put(json, "requests_per_s", b->goodput);
		put(json, "share", (double)b->good / (double)b->judged);
		put_count(json, "good", b->good);
		put_count(json, "of", b->judged);
	}
	if (b->left_out > 0)
		put_count(json, "left_out", b->left_out);
	for (int i = 0; i < slo->count; i++) {
		const struct objective *objective = &slo->list[i];
		const struct attainment *a = &b->objectives[i];
		json_t *one = json_pack("{s:s}", "objective", objective->text);
		put(one, "limit_ms", (double)objective->limit_ns / 1e6);
		put(one, "share", a->share);
		put(one, "value_ms", a->value_ms);
		if (!isnan(a->value_ms))
			json_object_set_new(one, "met", json_boolean(a->met));
		json_array_append_new(objectives, one);
	}
	if (json_array_size(objectives) > 0)
		json_object_set(json, "objectives", objectives);
	json_decref(objectives);
	return json;
}

static json_t *figures_json(const struct figures *b, const struct report *report)
{
	const struct percentiles *list = &report->options->percentiles;
	json_t *json = json_object(), *rate = json_object(), *throughput = json_object(), *flight = json_object();
	json_object_set_new(json, "name", json_string(b->name));
	if (b->kind)
		json_object_set_new(json, "kind", json_string(b->kind));
	json_object_set_new(json, "measured", json_boolean(b->measured));
	put(json, "window_s", b->window_s);
	json_object_set_new(json, "requests", requests_json(b));
	put(rate, "offered", b->offered);
	put(rate, "achieved", b->achieved);
	put(rate, "completed", b->completed);
	json_object_set_new(json, "rate", rate);
	put_object(json, "lag_ms", summary_json(&b->start[METRIC_LAG], list));
	put_object(json, "client_lag_ms", summary_json(&b->start[METRIC_CLIENT_LAG], list));
	put_object(json, "slot_wait_ms", summary_json(&b->start[METRIC_SLOT_WAIT], list));
	put(throughput, "requests_per_s", b->completed);
	put(throughput, "input_tokens_per_s", b->input_per_s);
	put(throughput, "output_tokens_per_s", b->output_per_s);
	put(throughput, "total_tokens_per_s", b->total_per_s);
	json_object_set_new(json, "throughput", throughput);
	json_object_set_new(json, "tokens", tokens_json(b, report));
	json_object_set_new(json, "latency", latency_json(b, list));
	if (b->events > 0)
		json_object_set_new(json, "events",
		                    json_pack("{s:I, s:I, s:o, s:I, s:I}", "content", (json_int_t)b->events, "coalesced",
		                              (json_int_t)b->coalesced, "coalesced_share",
		                              number((double)b->coalesced / (double)b->events), "stalls", (json_int_t)b->stalls,
		                              "stalled_requests", (json_int_t)b->stalled));
	if (b->deadlines > 0)
		json_object_set_new(json, "fluidity",
		                    json_pack("{s:I, s:I, s:o}", "deadlines", (json_int_t)b->deadlines, "met",
		                              (json_int_t)b->deadlines_met, "share",
		                              number((double)b->deadlines_met / (double)b->deadlines)));
	put(flight, "mean", b->in_flight_mean);
	put(flight, "max", b->in_flight_max);
	put(flight, "little", b->little);
	json_object_set_new(json, "in_flight", flight);
	put_object(json, "goodput", goodput_json(b, report->run->slo));
	for (enum grouping by = 0; by < GROUPINGS; by++) {
		if (!b->groups[by])
			continue;
		json_t *groups = json_object();
		char name[16];
		for (int i = 0; i < report->run->groups[by].count; i++)
			if (figures_requests(&b->groups[by][i]) > 0)
				json_object_set_new(groups, b->groups[by][i].name, figures_json(&b->groups[by][i], report));
		snprintf(name, sizeof name, "by_%s", groupings[by]);
		json_object_set_new(json, name, groups);
	}
	return json;
}

static int append(const char *bytes, size_t len, void *out)
{
	buffer_append(out, bytes, len);
	return 0;
}

static void render_json(const struct report *report, struct buffer *out)
{
	json_t *stages = json_array(), *json = json_object();
	for (size_t i = 0; i < report->figures->count; i++)
		json_array_append_new(stages, figures_json(&report->figures->stages[i], report));
	json_object_set_new(json, "ipf", json_string("report"));
	json_object_set_new(json, "version", json_integer(1));
	json_object_set(json, "verdict", report->verdict);
	json_object_set(json, "run", report->run_info);
	json_object_set_new(json, "stages", stages);
	json_object_set_new(json, "total", figures_json(&report->figures->total, report));
	if (json_dump_callback(json, append, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) < 0)
		out->failed = true;
	buffer_byte(out, '\n');
	json_decref(json);
}

const struct report_format format_json = {.name = "json", .render = render_json, .all_groups = true};
