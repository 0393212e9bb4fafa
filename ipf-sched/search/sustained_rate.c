#include "absent.h"
#include "search/sustained_rate.h"

#include <math.h>
#include <stdlib.h>

/* The stretch was chosen for how steady it is, so its parts differ by less than others would: an interval from them
 * alone holds the rate in 85 to 93 % of all runs. This much wider, it is in 91 to 98 % of runs with one, 10 and 50
 * servers, uniform, exponential and log-normal (sigma 1) times of service, and 10 to 120 s. */
#define CHOSEN 1.3

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

/* Five parts with the same number of answers each: how much the times they took differ, says how sure the rate is.
 * Times have no bad values where answers come in groups, as rates of parts do, which are infinite within a group. */
static bool estimate(const double *times, size_t n, struct sustained_rate *found)
{
	double whole = times[n - 1] - times[0], squares = 0, share;

	for (size_t part = 0; part < PARTS; part++) {
		double took = times[(n - 1) * (part + 1) / PARTS] - times[(n - 1) * part / PARTS] - whole / PARTS;
		squares += took * took;
	}
	share = CHOSEN * 2.776 * sqrt(squares / (PARTS - 1) / PARTS) / (whole / PARTS);
	found->rate = slope(times, n);
	found->least = fmax(0, found->rate * (1 - share));
	found->most = found->rate * (1 + share);
	found->begin_s = times[0];
	found->end_s = times[n - 1];
	return isfinite(found->rate) && isfinite(share);
}

/* Half the interval as a share of the rate. The lower end does not count: it is never below 0. */
static double uncertainty(const struct sustained_rate *found)
{
	return (found->most - found->rate) / found->rate;
}

bool sustained_rate_useful(const struct sustained_rate *found)
{
	return uncertainty(found) <= SUSTAINED_RATE_USEFUL && found->end_s - found->begin_s >= found->latency_s;
}

double sustained_rate_enough_s(const struct sustained_rate *found)
{
	const double wanted = 0.2, least_s = 10;
	double times = uncertainty(found) / wanted;

	return fmax(fmax(least_s, 10 * found->latency_s), times * times * (found->end_s - found->begin_s));
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

/* The time the fastest tenth of the answers took. -1: out of memory. */
static int fast_latency(const struct earlier_stage *stage, double *latency_s, struct ipf_error *err)
{
	double *latencies = calloc(stage->count + 1, sizeof *latencies);
	size_t count = 0;

	if (!latencies)
		return ipf_error_memory(err);
	for (size_t i = 0; i < stage->count; i++)
		if (stage->rows[i].ok)
			latencies[count++] = (double)(stage->rows[i].end_ns - stage->rows[i].start_ns) / 1e9;
	qsort(latencies, count, sizeof *latencies, compare);
	*latency_s = count ? latencies[count / 10] : 0;
	free(latencies);
	return 0;
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
	if (to - from >= PARTS * 4 && estimate(times + from, to - from, found))
		got = fast_latency(stage, &found->latency_s, err) < 0 ? -1 : 1;
	/* A burst requests everything at once; for closed stages it is not known whether more users would get more. */
	found->saturated = stage->users != IPF_ABSENT || isnan(stage->rate) || stage->rate > 1.03 * found->rate;
out:
	free(times);
	return got;
}
