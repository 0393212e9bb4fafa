#include "absent.h"
#include "search/sustained_rate.h"

#include <math.h>
#include <stdlib.h>

enum { BINS = 36, BINS_LEAST = 12, PARTS = 5 };

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Finds the bins between which the squared error of the mean count is smallest. */
static void steady_bins(const double counts[BINS], int *first, int *last)
{
	double best = INFINITY;

	for (int a = 0; a + BINS_LEAST <= BINS; a++) {
		double sum = 0, squares = 0;
		for (int b = a; b < BINS; b++) {
			double n = b - a + 1, error;
			sum += counts[b];
			squares += counts[b] * counts[b];
			/* Relative to the mean, since an idle stretch is steady as well. */
			error = sum > 0 ? (squares - sum * sum / n + sum / n) / (sum * sum) : INFINITY;
			if (n >= BINS_LEAST && error < best) {
				best = error;
				*first = a;
				*last = b;
			}
		}
	}
}

/* The slope of the line through (times[k], k). */
static double slope(const double *times, size_t n)
{
	double mean = 0, top = 0, bottom = 0;

	for (size_t k = 0; k < n; k++)
		mean += times[k] / (double)n;
	for (size_t k = 0; k < n; k++) {
		top += (times[k] - mean) * ((double)k - (double)(n - 1) / 2);
		bottom += (times[k] - mean) * (times[k] - mean);
	}
	return bottom > 0 ? top / bottom : NAN;
}

static bool slopes(const double *times, size_t n, struct sustained_rate *found)
{
	double sum = 0, squares = 0, deviation;

	found->rate = slope(times, n);
	for (size_t part = 0; part < PARTS; part++) {
		size_t from = n * part / PARTS, to = n * (part + 1) / PARTS;
		double s = slope(times + from, to - from);
		sum += s;
		squares += s * s;
	}
	deviation = sqrt(fmax(0, squares - sum * sum / PARTS) / (PARTS - 1) / PARTS);
	found->least = fmax(0, found->rate - 2.776 * deviation);
	found->most = found->rate + 2.776 * deviation;
	found->begin_s = times[0];
	found->end_s = times[n - 1];
	return isfinite(found->rate) && isfinite(deviation);
}

/* When the successful requests ended, in seconds, sorted; free it. NULL: out of memory. */
static double *answer_times(const struct earlier_stage *stage, size_t *count)
{
	double *times = calloc(stage->count + 1, sizeof *times);

	*count = 0;
	for (size_t i = 0; times && i < stage->count; i++)
		if (stage->rows[i].ok)
			times[(*count)++] = (double)stage->rows[i].end_ns / 1e9;
	if (times)
		qsort(times, *count, sizeof *times, compare);
	return times;
}

int sustained_rate_unsaturated(const struct earlier_stage *stage, double *rate, struct ipf_error *err)
{
	struct sustained_rate found;
	int got = sustained_rate_find(stage, &found, err);
	size_t n;
	double *times;

	if (got == 1)
		*rate = found.rate;
	if (got != 0)
		return got;
	times = answer_times(stage, &n);
	if (!times)
		return ipf_error_memory(err);
	*rate = n < UNSATURATED_LEAST ? NAN : slope(times, n);
	free(times);
	return isfinite(*rate) ? 1 : 0;
}

int sustained_rate_find(const struct earlier_stage *stage, struct sustained_rate *found, struct ipf_error *err)
{
	double *times, counts[BINS] = {0}, width;
	size_t n, from = 0, to;
	int first = 0, last = BINS - 1, got = 0;

	times = answer_times(stage, &n);
	if (!times)
		return ipf_error_memory(err);
	if (n < SUSTAINED_RATE_LEAST)
		goto out;
	width = (times[n - 1] - times[0]) / BINS;
	if (width <= 0)
		goto out;
	for (size_t i = 0; i < n; i++)
		counts[(int)fmin(BINS - 1, (times[i] - times[0]) / width)]++;
	steady_bins(counts, &first, &last);
	while (times[from] < times[0] + first * width)
		from++;
	for (to = n; last < BINS - 1 && times[to - 1] >= times[0] + (last + 1) * width; to--)
		;
	if (to - from >= PARTS * 4 && slopes(times + from, to - from, found))
		got = 1;
	/* A burst requests everything at once; for closed stages it is not known whether more users would get more. */
	found->saturated = stage->users != IPF_ABSENT || isnan(stage->rate) || stage->rate > 1.03 * found->rate;
out:
	free(times);
	return got;
}
