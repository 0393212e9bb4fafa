#include "model/quantile_table.h"

#include <math.h>
#include <stdbool.h>

double quantile_rank(int knot)
{
	static const double first[] = {0, 0.001, 0.002, 0.005}, last[] = {0.995, 0.998, 0.999, 1};
	if (knot < 4)
		return first[knot];
	return knot < QUANTILE_KNOTS - 4 ? (knot - 3) / 100.0 : last[knot - (QUANTILE_KNOTS - 4)];
}

void quantile_table_of(struct quantile_table *t, struct samples *s)
{
	t->count = (int64_t)s->count;
	for (int i = 0; i < QUANTILE_KNOTS && s->count; i++)
		t->at[i] = samples_percentile(s, 100 * quantile_rank(i));
}

/* The last knot whose rank is at most u, and not the last of all. */
static int knot_before(double u)
{
	int i = u < 0.01 ? 0 : (int)(u * 100) + 3;
	if (i > QUANTILE_KNOTS - 2)
		i = QUANTILE_KNOTS - 2;
	while (i > 0 && quantile_rank(i) > u)
		i--;
	while (i < QUANTILE_KNOTS - 2 && quantile_rank(i + 1) <= u)
		i++;
	return i;
}

double quantile_table_at(const struct quantile_table *t, double u)
{
	int i = knot_before(u);
	double low = quantile_rank(i), share = (u - low) / (quantile_rank(i + 1) - low);
	return t->at[i] + (t->at[i + 1] - t->at[i]) * share;
}

/* The rank below which values are less than `value`, or with `equal` at most that. */
static double rank_below(const struct quantile_table *t, double value, bool equal)
{
	int i = 0;
	while (i < QUANTILE_KNOTS && (t->at[i] < value || (equal && t->at[i] == value)))
		i++;
	if (i == 0 || i == QUANTILE_KNOTS)
		return i ? 1 : 0;
	double low = quantile_rank(i - 1), step = t->at[i] - t->at[i - 1];
	return low + (step > 0 ? (value - t->at[i - 1]) / step : 0) * (quantile_rank(i) - low);
}

double quantile_table_rank(const struct quantile_table *t, double value)
{
	return (rank_below(t, value, false) + rank_below(t, value, true)) / 2;
}

json_t *quantile_table_json(const struct quantile_table *t)
{
	return model_numbers(t->at, QUANTILE_KNOTS);
}

int quantile_table_read(struct quantile_table *t, const struct model_place *at, const char *key, struct ipf_error *err)
{
	size_t count;
	if (model_list(at, key, t->at, QUANTILE_KNOTS, &count, err) < 0)
		return -1;
	if (count != QUANTILE_KNOTS)
		return ipf_error_set(err, IPF_INPUT, "%s.%s: expected a list of %d numbers, got %zu", at->name, key,
		                     QUANTILE_KNOTS, count);
	for (size_t i = 1; i < QUANTILE_KNOTS; i++)
		if (t->at[i] < t->at[i - 1])
			return ipf_error_set(err, IPF_INPUT, "%s.%s[%zu]: expected ascending numbers, got %g after %g", at->name,
			                     key, i, t->at[i], t->at[i - 1]);
	return 0;
}
