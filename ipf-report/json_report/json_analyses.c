#include "analysis/analyses.h"
#include "json_report/json_figures.h"
#include "json_report/json_report.h"
#include "results/run_data.h"
#include "safe_text.h"

#include <math.h>
#include <stdio.h>

json_t *json_sessions(const struct report *report)
{
	const struct session_figures *s = &report->analyses->sessions;
	const struct percentiles *list = &report->options->percentiles;
	json_t *json = json_object(), *share = json_object();
	if (s->sessions > 0) {
		json_put_count(json, "sessions", s->sessions);
		json_put_count(json, "complete", s->complete);
		json_put_count(json, "cut", s->cut);
		json_put_count(json, "failed", s->failed);
		json_put_count(json, "requests", s->requests);
		json_put(json, "complete_per_hour", s->per_hour);
		if (s->judged > 0) {
			json_put_count(json, "good", s->good);
			json_put_count(json, "of", s->judged);
		}
		for (int i = 0; i < (s->branches ? SESSION_DISTRIBUTIONS : SESSION_BRANCHES); i++)
			json_put_object(json, session_distribution_names[i], json_summary(&s->of[i], list));
		for (int i = 0; i < SESSION_PARTS; i++)
			json_put(share, session_part_names[i], s->share[i]);
	}
	json_put_object(json, "share", share);
	return json;
}

static json_t *repeated_json(const struct repeated_figure *f, int runs)
{
	json_t *json = json_pack("{s:s, s:s, s:s}", "name", f->name, "label", f->label, "unit",
	                         *f->unit ? f->unit : "share"),
		   *values = json_array();
	json_put(json, "mean", f->mean);
	json_put(json, "std", f->std);
	json_object_set_new(json, "ci95", json_pack("[o, o]", json_figure(f->low), json_figure(f->high)));
	for (int r = 0; r < runs; r++)
		json_array_append_new(values, isnan(f->of_runs[r]) ? json_null() : json_figure(f->of_runs[r]));
	json_object_set_new(json, "of_runs", values);
	if (f->outlier >= 0)
		json_put_count(json, "outlier", f->outlier + 1);
	return json;
}

json_t *json_repeats(const struct report *report)
{
	const struct repeats *r = &report->analyses->repeats;
	json_t *runs = json_array(), *figures = json_array();
	for (size_t i = 0; i < r->count; i++)
		json_array_append_new(figures, repeated_json(&r->figures[i], r->runs));
	for (int k = 0; k < r->runs; k++)
		json_array_append_new(runs, json_string(shown(report->run->parts[k].name).text));
	json_t *json = json_pack("{s:o, s:b, s:o}", "runs", runs, "one_schedule", r->one_schedule, "figures", figures);
	if (r->count == 0)
		json_object_clear(json);
	return json;
}

json_t *json_cost(const struct report *report)
{
	const struct cost *c = &report->analyses->cost;
	json_t *json = json_object();
	if (isnan(report->price->per_hour) && c->gpus == 0)
		return json;
	json_put_text(json, "currency", report->price->currency);
	if (c->gpus > 0)
		json_put_count(json, "gpus", c->gpus);
	if (report->price->per_gpu)
		json_object_set_new(json, "per_gpu", json_true());
	json_put_exact(json, "per_hour", c->per_hour);
	json_put_exact(json, "per_output_token", c->per_token);
	json_put_exact(json, "per_good_output_token", c->per_good_token);
	json_put_exact(json, "per_million_output_tokens", 1e6 * c->per_token);
	json_put_exact(json, "per_million_good_output_tokens", 1e6 * c->per_good_token);
	json_put_exact(json, "per_request", c->per_request);
	json_put_exact(json, "per_good_request", c->per_good_request);
	json_put_exact(json, "energy_j", c->energy_j);
	json_put_exact(json, "power_w", c->power_w);
	json_put_exact(json, "j_per_output_token", c->j_per_token);
	json_put_exact(json, "j_per_good_output_token", c->j_per_good_token);
	json_put_exact(json, "j_per_request", c->j_per_request);
	json_put_text(json, "no_price", c->no_price);
	json_put_text(json, "no_energy", c->no_energy);
	json_put_text(json, "no_good", c->no_good);
	return json;
}

static json_t *event_json(const struct autoscaling_event *e, const struct report *report)
{
	json_t *json = json_pack("{s:s, s:s}", "event", e->ramp ? "ramp" : "spike", "stage",
	                         report->run->schedule.stages[e->stage].name);
	json_put(json, "begin_s", (double)e->begin_ns / 1e9);
	json_put(json, "end_s", (double)e->end_ns / 1e9);
	json_put(json, "rate_before", e->rate_before);
	json_put(json, "rate_peak", e->rate_peak);
	json_put_count(json, "requests", e->requests);
	if (report->analyses->autoscaling.objectives) {
		json_object_set_new(json, "missed_before", json_boolean(e->missed_before));
		json_put(json, "missed_after_s", e->missed_after_s);
		json_put(json, "met_after_s", e->met_after_s);
		json_put(json, "recovery_s", e->met_after_s - e->missed_after_s);
		json_put_count(json, "missed_requests", e->missed);
		json_put_count(json, "missed_output_tokens", e->missed_tokens);
	}
	json_put(json, "replicas_before", e->replicas_before);
	json_put(json, "replicas_most", e->replicas_most);
	json_put(json, "added_after_s", e->added_after_s);
	json_put(json, "replicas_enough", e->replicas_enough);
	return json;
}

json_t *json_autoscaling(const struct report *report)
{
	const struct autoscaling *a = &report->analyses->autoscaling;
	json_t *json = json_object(), *events = json_array();
	for (int i = 0; i < a->count; i++)
		json_array_append_new(events, event_json(&a->events[i], report));
	if (a->count > 0) {
		json_put(json, "window_s", a->window_s);
		json_put(json, "rate_per_replica", a->rate_per_replica);
		json_put_text(json, "no_replicas_enough", a->no_enough);
	}
	json_put_object(json, "events", events);
	return json;
}
