#include "json_report/json_figures.h"

#include "absent.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* What a reader of the written report has: 15 digits. A figure that is computed from more, such as J in kJ, would
 * differ in its last digit from that of a saved report. */
static double as_written(double value)
{
	char text[32];
	snprintf(text, sizeof text, "%.15g", value);
	return strtod(text, NULL);
}

json_t *json_figure(double value)
{
	if (isinf(value))
		return json_string("inf");
	const double rounded = round(value * 1e6) / 1e6;
	return json_real(fabs(rounded) < 1e9 ? rounded : as_written(rounded)); /* below, 6 decimals are 15 digits at most */
}

void json_put_exact(json_t *to, const char *name, double value)
{
	if (!isnan(value))
		json_object_set_new(to, name, json_real(as_written(value)));
}

void json_put(json_t *to, const char *name, double value)
{
	if (!isnan(value))
		json_object_set_new(to, name, json_figure(value));
}

void json_put_count(json_t *to, const char *name, int64_t value)
{
	if (value != IPF_ABSENT)
		json_object_set_new(to, name, json_integer(value));
}

void json_put_text(json_t *to, const char *name, const char *text)
{
	if (text && *text)
		json_object_set_new(to, name, json_string(text));
}

void json_put_object(json_t *to, const char *name, json_t *value)
{
	if (json_object_size(value) > 0 || json_array_size(value) > 0)
		json_object_set(to, name, value);
	json_decref(value);
}

/* Of the percentiles whose intervals are known. */
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
