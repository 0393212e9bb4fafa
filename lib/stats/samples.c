#include "stats/samples.h"

#include "stats/autocorrelation.h"
#include "stats/sort_doubles.h"
#include "stats/student.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#define CONFIDENCE 0.99

void samples_add(struct samples *s, double value)
{
	if (isnan(value)) /* an absent value */
		return;
	if (s->count == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 256;
		double *values = cap <= SIZE_MAX / sizeof *values ? realloc(s->values, cap * sizeof *values) : NULL;
		if (!values) {
			s->failed = true;
			return;
		}
		s->values = values;
		s->cap = cap;
	}
	s->values[s->count++] = value;
	s->sorted = false;
}

void samples_sort(struct samples *s)
{
	if (!s->sorted && s->count)
		sort_doubles(s->values, s->count);
	s->sorted = true;
}

void samples_release(struct samples *s)
{
	free(s->values);
	*s = (struct samples){0};
}

double samples_percentile(struct samples *s, double p)
{
	double rank, part, low, high;
	size_t below;

	if (s->count == 0 || isnan(p))
		return NAN;
	samples_sort(s);
	rank = fmin(fmax(p / 100, 0), 1) * (double)(s->count - 1);
	below = (size_t)rank;
	part = rank - (double)below;
	low = s->values[below];
	if (part == 0 || below + 1 == s->count || isinf(low))
		return low;
	high = s->values[below + 1];
	if (isinf(high)) /* a failure, which counts as infinitely late: no arithmetic with it */
		return high;
	/* from the nearer end, as NumPy: the result never leaves [low, high] */
	return part < 0.5 ? low + (high - low) * part : high - (high - low) * (1 - part);
}

/* Compensated sum (Neumaier), so that the order of the values hardly matters. */
static double sum_of(const double *values, size_t count)
{
	double sum = 0, lost = 0;

	for (size_t i = 0; i < count; i++) {
		double next = sum + values[i];
		if (fabs(sum) >= fabs(values[i]))
			lost += (sum - next) + values[i];
		else
			lost += (values[i] - next) + sum;
		sum = next;
	}
	return isfinite(sum) ? sum + lost : sum;
}

static double mean_of(const double *values, size_t count)
{
	return count ? sum_of(values, count) / (double)count : NAN;
}

/* Mean of the squared distances from the mean. */
static double variance_of(const double *values, size_t count)
{
	double mean = mean_of(values, count), sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return count ? sum / (double)count : NAN;
}

double samples_mean(const struct samples *s)
{
	return mean_of(s->values, s->count);
}

double samples_std(const struct samples *s)
{
	return sqrt(variance_of(s->values, s->count));
}

struct mean_interval samples_mean_interval(const struct samples *s)
{
	struct mean_interval interval = {NAN, NAN, NAN};
	if (s->count < SAMPLES_FOR_INTERVAL || s->sorted)
		return interval;
	struct mean_estimate e = mean_estimate_of(s->values, s->count);
	double half = e.error * student_quantile(STUDENT_95, e.n_eff - 1);
	if (!isfinite(e.mean))
		return interval;
	interval.n_eff = e.n_eff;
	if (isfinite(half)) {
		interval.low = e.mean - half;
		interval.high = e.mean + half;
	}
	return interval;
}

size_t samples_needed(double p)
{
	double tail = p < 50 ? 100 - p : p, n;

	if (!(tail < 100)) /* minimum and maximum: no number of samples is enough */
		return SIZE_MAX;
	n = ceil(log(1 - CONFIDENCE) / log(tail / 100));
	return n < 0x1p63 ? (size_t)n : SIZE_MAX;
}
