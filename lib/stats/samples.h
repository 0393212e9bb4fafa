/* Statistics that are exact: percentiles by linear interpolation between order statistics (NumPy's default), moments,
 * batch means. For pooled gaps, of which there are too many to keep, histogram.h.
 */
#ifndef IPF_SAMPLES_H
#define IPF_SAMPLES_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>

/* A growing set of numbers. Zero-initialise. */
struct samples {
	double *values; /* in the order of arrival until samples_sort */
	size_t count, cap;
	bool sorted, failed;
};

void samples_add(struct samples *s,
                 double value); /* sticky `failed` when memory runs out; NAN (no figure) is not added */
void samples_sort(struct samples *s);
void samples_release(struct samples *s);

/* p in 0 … 100; NAN for an empty set. Sorts. */
double samples_percentile(struct samples *s, double p);
double samples_mean(const struct samples *s);
double samples_std(const struct samples *s); /* population standard deviation, as NumPy's default */

/* 95 % confidence interval of the mean by batch means (20 batches in the order of arrival, Student's t); false with
 * fewer than 40 samples, and after anything that sorts: the order is gone then. */
bool samples_mean_interval(const struct samples *s, double *low, double *high);
/* Effective sample size from the same batches: count × variance / (batch size × variance of the batch means), at most
 * count; NAN where there is no interval. */
double samples_effective(const struct samples *s);

/* How many samples a percentile needs to be shown in full strength: the binomial bound ln(0.01)/ln(p/100) at 99 %
 * confidence: 44 for p90, 459 for p99, 4603 for p99.9. For p below 50 the mirrored percentile counts; no number is
 * enough for p0 and p100: SIZE_MAX. */
size_t samples_needed(double p);

#endif
