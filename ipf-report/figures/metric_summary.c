#include "figures/metric_summary.h"

#include "absent.h"
#include "cli/units.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void percentiles_default(struct percentiles *list)
{
	static const double usual[] = {1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9};
	memcpy(list->p, usual, sizeof usual);
	list->count = sizeof usual / sizeof *usual;
	list->chosen = false;
}

static int add_percentile(struct percentiles *list, const char *item, struct ipf_error *err)
{
	double p;
	struct ipf_error ignored = {0};
	if (parse_number(item[0] == 'p' ? item + 1 : item, &p, &ignored) < 0 || p <= 0 || p >= 100)
		return ipf_error_set(err, IPF_USAGE, "expected numbers between 0 and 100 such as 50,90,99.9, got \"%s\"", item);
	int at = 0;
	while (at < list->count && list->p[at] < p)
		at++;
	if (at < list->count && list->p[at] <= p)
		return 0;
	if (list->count == PERCENTILES_MOST)
		return ipf_error_set(err, IPF_USAGE, "expected at most %d percentiles", PERCENTILES_MOST);
	memmove(list->p + at + 1, list->p + at, (size_t)(list->count - at) * sizeof *list->p);
	list->p[at] = p;
	list->count++;
	return 0;
}

int percentiles_parse(struct percentiles *list, const char *text, struct ipf_error *err)
{
	*list = (struct percentiles){.chosen = true};
	char item[64];
	do {
		size_t len = strcspn(text, ",");
		snprintf(item, sizeof item, "%.*s", (int)(len < sizeof item ? len : sizeof item - 1), text);
		if (add_percentile(list, item, err) < 0)
			return -1;
		text += len;
	} while (*text++ == ',');
	return 0;
}

const char *percentile_name(double p, char text[24])
{
	snprintf(text, 24, "p%.10g", p);
	return text;
}

double percentile_with_infinite(struct samples *s, int64_t infinite, double p)
{
	if (infinite == 0)
		return samples_percentile(s, p);
	/* the rank among all samples, as in samples_percentile */
	double rank = p / 100 * (double)((int64_t)s->count + infinite - 1);
	size_t below = (size_t)rank;
	double part = rank - (double)below;
	if (below >= s->count || (below + 1 >= s->count && part > 0))
		return INFINITY;
	double low = samples_at_rank(s, below);
	return part > 0 ? low + part * (samples_at_rank(s, below + 1) - low) : low;
}

static void metric_summary_clear(struct metric_summary *d)
{
	*d = (struct metric_summary){.mean = NAN,
	                             .std = NAN,
	                             .min = NAN,
	                             .max = NAN,
	                             .median = NAN,
	                             .p90 = NAN,
	                             .p99 = NAN,
	                             .n_eff = NAN,
	                             .low = NAN,
	                             .high = NAN};
	for (int i = 0; i < PERCENTILES_MOST; i++)
		d->at[i] = NAN;
}

void metric_summary_of_samples(struct metric_summary *d, struct samples *s, int64_t infinite, double scale,
                               const struct percentiles *list)
{
	metric_summary_clear(d);
	d->n = (int64_t)s->count + infinite;
	if (d->n == 0)
		return;
	if (infinite == 0) {
		d->mean = samples_mean(s) * scale;
		d->std = samples_std(s) * scale;
		struct mean_interval interval = samples_mean_interval(s);
		d->n_eff = interval.n_eff;
		d->low = interval.low * scale;
		d->high = interval.high * scale;
	}
	samples_partition(s);
	for (int i = 0; i < list->count; i++)
		d->at[i] = percentile_with_infinite(s, infinite, list->p[i]) * scale;
	d->median = percentile_with_infinite(s, infinite, 50) * scale;
	d->p90 = percentile_with_infinite(s, infinite, 90) * scale;
	d->p99 = percentile_with_infinite(s, infinite, 99) * scale;
	d->min = percentile_with_infinite(s, infinite, 0) * scale;
	d->max = percentile_with_infinite(s, infinite, 100) * scale;
}

int metric_summary_with_limits(struct metric_summary *d, struct samples *s, double scale,
                               const struct percentiles *list, struct percentile_limits limits[PERCENTILES_MOST])
{
	double *in_order = malloc((s->count + 1) * sizeof *in_order);
	if (!in_order)
		return -1;
	if (s->count)
		memcpy(in_order, s->values, s->count * sizeof *in_order);
	metric_summary_of_samples(d, s, 0, scale, list);
	for (int i = 0; i < list->count && s->count; i++) {
		limits[i] = percentile_limits_of(in_order, s->count, s, list->p[i]);
		limits[i].low = isinf(limits[i].low) ? 0 : limits[i].low * scale;
		limits[i].high *= scale;
	}
	d->limits = s->count ? limits : NULL;
	free(in_order);
	return 0;
}

void metric_summary_of_histogram(struct metric_summary *d, const struct histogram *h, double scale,
                                 const struct percentiles *list)
{
	metric_summary_clear(d);
	d->n = histogram_count(h);
	if (d->n == 0)
		return;
	d->mean = histogram_mean(h) * scale;
	d->std = histogram_std(h) * scale;
	d->min = (double)histogram_min(h) * scale;
	d->max = (double)histogram_max(h) * scale;
	d->median = histogram_percentile(h, 50) * scale;
	d->p90 = histogram_percentile(h, 90) * scale;
	d->p99 = histogram_percentile(h, 99) * scale;
	for (int i = 0; i < list->count; i++)
		d->at[i] = histogram_percentile(h, list->p[i]) * scale;
}

bool percentile_is_firm(int64_t n, double p)
{
	return n == IPF_ABSENT || n >= (int64_t)samples_needed(p);
}
