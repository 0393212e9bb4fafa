#include "figures/figures.h"
#include "json_report/json_figures.h"
#include "json_report/json_report.h"
#include "workload/trace_findings.h"

#include <math.h>

/* A number that is known. */
static void put_finite(json_t *to, const char *name, double value)
{
	json_put(to, name, isfinite(value) ? value : NAN);
}

static json_t *requests_json(const struct reference *ref)
{
	json_t *json = json_object();
	json_put_count(json, "of", ref->of_trace);
	json_put_count(json, "run", ref->run);
	json_put_count(json, "not_run", ref->of_trace - ref->run);
	json_put_count(json, "compared", ref->compared);
	json_put_count(json, "unrecorded", ref->unrecorded);
	json_put_count(json, "failed", ref->failed);
	json_put_count(json, "hung_up", ref->hung_up);
	json_put_count(json, "repeats", ref->repeats);
	return json;
}

static json_t *load_json(const struct reference_load *load)
{
	json_t *json = json_object();
	if (load->requests == 0 || isnan(load->recorded) || isnan(load->replayed))
		return json;
	json_put_count(json, "requests", load->requests);
	json_put(json, "recorded", load->recorded);
	json_put(json, "replayed", load->replayed);
	return json;
}

static json_t *median_json(const struct reference_median *m)
{
	json_t *json = json_object();
	json_put(json, "median", m->median);
	put_finite(json, "low", m->low);
	put_finite(json, "high", m->high);
	return json;
}

static json_t *change_json(const struct figure_difference *f)
{
	const struct difference *d = &f->d;
	json_t *json = json_object();
	json_put(json, "recorded", d->base);
	json_put(json, "replayed", d->value);
	put_finite(json, "change", d->change);
	put_finite(json, "low", d->low);
	put_finite(json, "high", d->high);
	json_put(json, "p", d->p);
	json_put(json, "p_adjusted", d->adjusted);
	json_put(json, "visible", difference_visible(d));
	json_put_text(json, "finding", finding_name(f->figure, d->finding));
	return json;
}

static json_t *changes_json(const struct reference *ref, enum metric metric)
{
	json_t *json = json_object();
	char name[24];
	for (size_t k = 0; k < ref->count; k++) {
		const struct compared_figure *figure = ref->figures[k].figure;
		if (figure->metric == metric)
			json_object_set_new(json, figure->kind == FIGURE_MEAN ? "mean" : percentile_name(figure->percentile, name),
			                    change_json(&ref->figures[k]));
	}
	return json;
}

static json_t *latency_json(const struct reference *ref, enum reference_latency latency, const struct percentiles *list)
{
	const struct reference_pairs *pairs = &ref->latencies[latency];
	json_t *json = json_object();
	if (pairs->count == 0)
		return json;
	json_put_count(json, "pairs", pairs->count);
	json_put_object(json, "recorded", json_summary(&pairs->recorded, list));
	json_put_object(json, "replayed", json_summary(&pairs->replayed, list));
	json_put_object(json, "changes", changes_json(ref, reference_metrics[latency]));
	json_put_object(json, "ratio", median_json(&pairs->ratio));
	json_put_object(json, "difference_ms", median_json(&pairs->difference_ms));
	return json;
}

json_t *json_reference(const struct report *report)
{
	static const char *const names[REFERENCE_LATENCIES] = {"ttft_ms", "e2e_ms", "tpot_ms"};
	const struct reference *ref = &report->trace->reference;
	json_t *json = json_object(), *load = json_object(), *left = json_object();
	if (!report->trace->given || !ref->given) {
		json_decref(load);
		json_decref(left);
		return json;
	}
	json_put_text(json, "source", report->trace->workload.source);
	if (ref->compared > 0)
		json_put_text(json, "outcome", outcome_names[ref->outcome]);
	json_put_object(json, "requests", requests_json(ref));
	for (enum reference_latency l = 0; l < REFERENCE_LATENCIES; l++)
		json_put_object(json, names[l], latency_json(ref, l, &report->options->percentiles));
	json_put_object(load, "requests_per_s", load_json(&ref->rate));
	json_put_object(load, "input_tokens", load_json(&ref->input));
	json_put_object(load, "output_tokens", load_json(&ref->output));
	json_put_count(left, "recorded", ref->hang_ups[SIDE_BASE]);
	json_put_count(left, "replayed", ref->hang_ups[SIDE_NEW]);
	json_put_object(load, "hang_ups", left);
	json_put_object(json, "load", load);
	return json;
}
