#include "figures/error_bars.h"
#include "figures/figures.h"
#include "json_report/json_figures.h"
#include "json_report/json_report.h"

#include <math.h>
#include <stdio.h>

static json_t *bar_json(const struct error_bar *bar, const struct metric_summary *of, const struct percentiles *list)
{
	json_t *json = json_object();
	if (bar->low.n == 0)
		return json;
	json_put_object(json, "low", json_summary(&bar->low, list));
	json_put_object(json, "high", json_summary(&bar->high, list));
	const struct metric_summary widths = bar_widths(bar, of);
	json_put_object(json, "error", json_summary(&widths, list));
	return json;
}

/* NULL: of a member of a grouping, which has none, or they were not computed. */
static const struct accuracy *accuracy_of(const struct report *report, const struct figures *f)
{
	const struct run_figures *figures = report->figures;
	if (f == &figures->total)
		return &report->accuracy->total;
	for (size_t i = 0; report->accuracy->stages && i < figures->count; i++)
		if (f == &figures->stages[i])
			return &report->accuracy->stages[i];
	return NULL;
}

json_t *json_accuracy(const struct report *report, const struct figures *f)
{
	/* error bars are of all requests of a stage */
	const bool steady = report->options->window == WINDOW_STEADY;
	const struct accuracy *a = steady ? NULL : accuracy_of(report, f);
	json_t *json = json_object();
	for (enum bar bar = 0; a && bar < ERROR_BARS; bar++) {
		const struct bar_spec *spec = &bar_specs[bar];
		json_t *one = bar_json(&a->bars[bar], bar_summary(f, bar), &report->options->percentiles), *versions;
		if (!spec->version) {
			json_put_object(json, spec->json, one);
			continue;
		}
		if (!(versions = json_object_get(json, spec->json)) && json_object_size(one) > 0) {
			versions = json_object();
			json_object_set_new(json, spec->json, versions);
		}
		if (versions)
			json_put_object(versions, spec->version, json_incref(one));
		json_decref(one);
	}
	return json;
}

json_t *json_run_accuracy(const struct report *report)
{
	const struct run_accuracy *a = report->accuracy;
	json_t *json = json_object();
	json_object_set_new(json, "known", json_boolean(a->known));
	if (!isnan(a->limit_ms)) {
		json_put(json, "limit_ms", a->limit_ms);
		json_put_count(json, "missed", a->missed);
	}
	return json;
}
