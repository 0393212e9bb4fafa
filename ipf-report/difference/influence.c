#include "difference/influence.h"

#include "array.h"
#include "stats/exact_math.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int placed_values_add(struct placed_values *placed, double value, int32_t cell, struct ipf_error *err)
{
	if (!array_room(placed->cells, placed->cap, placed->values.count + 1))
		return ipf_error_memory(err);
	placed->cells[placed->values.count] = cell;
	samples_add(&placed->values, value);
	return placed->values.failed ? ipf_error_memory(err) : 0;
}

void placed_values_release(struct placed_values *placed)
{
	samples_release(&placed->values);
	free(placed->cells);
	*placed = (struct placed_values){0};
}

static size_t cells_of(const struct run_blocks *blocks)
{
	return (size_t)blocks->runs * run_blocks_each(blocks);
}

static double sum_of(const double *values, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum;
}

int influence_of_ratio(struct influence *i, const struct run_blocks *blocks, const double *over, const double *under,
                       enum influence_scale scale, struct ipf_error *err)
{
	const size_t count = cells_of(blocks);
	const double all = sum_of(under, count);
	*i = (struct influence){.value = all > 0 ? sum_of(over, count) / all : NAN, .scale = scale, .level = NAN};
	if (isnan(i->value) || (scale == INFLUENCE_RELATIVE && !(i->value > 0)))
		return 0;
	i->parts = malloc((count + 1) * sizeof *i->parts);
	i->of_runs = malloc((size_t)blocks->runs * sizeof *i->of_runs);
	if (!i->parts || !i->of_runs)
		return ipf_error_memory(err);
	const size_t each = run_blocks_each(blocks);
	i->size = all;
	for (size_t r = 0; r < (size_t)blocks->runs; r++) {
		const double own = sum_of(under + r * each, each);
		i->of_runs[r] = own > 0 ? sum_of(over + r * each, each) / own : NAN;
	}
	const double unit = scale == INFLUENCE_RELATIVE ? all * i->value : all;
	for (size_t k = 0; k < count; k++)
		i->parts[k] = (over[k] - i->value * under[k]) / unit;
	return 0;
}

/* Sums over the values of each block: of the values themselves, or of how many are at most `limit`. */
static void add_up(const struct placed_values *placed, double limit, double *over, double *under)
{
	for (size_t k = 0; k < placed->values.count; k++) {
		const double value = placed->values.values[k];
		if (placed->cells[k] < 0)
			continue;
		under[placed->cells[k]]++;
		over[placed->cells[k]] += isnan(limit) ? value : (double)(value <= limit);
	}
}

static int from_values(struct influence *i, const struct run_blocks *blocks, const struct placed_values *placed,
                       double limit, struct ipf_error *err)
{
	const size_t count = cells_of(blocks);
	double *over = calloc(2 * count + 1, sizeof *over), *under = over ? over + count : NULL;
	if (!over)
		return ipf_error_memory(err);
	add_up(placed, limit, over, under);
	const int bad = influence_of_ratio(i, blocks, over, under, isnan(limit) ? INFLUENCE_RELATIVE : INFLUENCE_SHARE,
	                                   err);
	free(over);
	return bad;
}

int influence_of_mean(struct influence *i, const struct run_blocks *blocks, const struct placed_values *placed,
                      struct ipf_error *err)
{
	const int bad = from_values(i, blocks, placed, NAN, err);
	i->value = samples_mean(&placed->values);
	return bad;
}

/* The percentile of each run alone. */
static int percentiles_of_runs(struct influence *i, const struct run_blocks *blocks, const struct placed_values *placed,
                               double p, struct ipf_error *err)
{
	const size_t each = run_blocks_each(blocks);
	struct samples own = {0};
	for (size_t r = 0; i->of_runs && r < (size_t)blocks->runs; r++) {
		samples_clear(&own);
		for (size_t k = 0; k < placed->values.count; k++)
			if (placed->cells[k] >= 0 && (size_t)placed->cells[k] / each == r)
				samples_add(&own, placed->values.values[k]);
		i->of_runs[r] = samples_percentile(&own, p);
	}
	const bool failed = own.failed;
	samples_release(&own);
	return failed ? ipf_error_memory(err) : 0;
}

int influence_of_percentile(struct influence *i, const struct run_blocks *blocks, const struct placed_values *placed,
                            struct samples *sorted, double p, struct ipf_error *err)
{
	const double value = samples_percentile(sorted, p);
	*i = (struct influence){.value = NAN};
	if (isnan(value))
		return 0;
	const int bad = from_values(i, blocks, placed, value, err);
	/* an interpolated percentile lies between two values: its level is its own, not the share below it */
	i->value = value;
	i->scale = INFLUENCE_LEVEL;
	i->level = p / 100;
	i->sorted = sorted;
	return bad < 0 ? -1 : percentiles_of_runs(i, blocks, placed, p, err);
}

void influence_release(struct influence *i)
{
	free(i->parts);
	free(i->of_runs);
	*i = (struct influence){0};
}

double influence_log_at(const struct influence *i, double error, double steps)
{
	const double p = i->level, variance = p * (1 - p);
	if (steps == 0 || error == 0)
		return i->value > 0 ? exact_log(i->value) : NAN;
	const double logit = exact_log(p / (1 - p)) + steps * error / variance, level = 1 / (1 + exact_exp(-logit));
	const double rank = level * (double)i->sorted->count;
	if (rank < 1 || rank > (double)i->sorted->count - 1)
		return steps < 0 ? -INFINITY : INFINITY;
	const double value = samples_percentile(i->sorted, 100 * level);
	return value > 0 ? exact_log(value) : -INFINITY;
}
