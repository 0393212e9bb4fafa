#include "json_report/json_figures.h"

#include <math.h>

/* For the percentiles whose intervals are known. */
static json_t *limits_json(const struct percentile_limits *limits, const struct percentiles *list)
{
	json_t *json = json_object();
	char name[24];
	for (int i = 0; i < list->count; i++)
		if (!isnan(limits[i].low))
			json_object_set_new(json, percentile_name(list->p[i], name),
			                    json_pack("[o, o]", json_figure(limits[i].low), json_figure(limits[i].high)));
	return json;
}

json_t *json_summary(const struct metric_summary *d, const struct percentiles *list)
{
	json_t *json = json_object();
	char name[24];
	if (d->n == 0)
		return json;
	json_put_count(json, "n", d->n);
	json_put(json, "mean", d->mean);
	json_put(json, "std", d->std);
	json_put(json, "min", d->min);
	for (int i = 0; i < list->count; i++)
		json_put(json, percentile_name(list->p[i], name), d->at[i]);
	json_put(json, "max", d->max);
	json_put(json, "n_eff", d->n_eff);
	if (!isnan(d->low))
		json_object_set_new(json, "ci95", json_pack("[o, o]", json_figure(d->low), json_figure(d->high)));
	if (d->limits)
		json_put_object(json, "percentiles_ci95", limits_json(d->limits, list));
	return json;
}
