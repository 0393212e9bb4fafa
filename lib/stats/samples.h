/* Exact statistics of a set of numbers that fits in memory: percentiles by linear interpolation between order
 * statistics (NumPy's default), mean, standard deviation, a confidence interval of the mean. histogram.h is for the
 * values of which there are too many to keep, such as inter-token gaps.
 *
 *     struct samples s = {0};
 *     samples_add(&s, 12.5);
 *     if (s.failed) …                      // out of memory
 *     samples_percentile(&s, 99)
 *     samples_release(&s);
 */
#ifndef IPF_SAMPLES_H
#define IPF_SAMPLES_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>

struct sample_ranges;

/* A growing set of numbers. Zero-initialise. */
struct samples {
	double *values; /* in the order of arrival until samples_sort or samples_partition */
	size_t count, cap;
	bool sorted, failed;
	bool partitioned;             /* by samples_partition */
	struct sample_ranges *ranges; /* NULL until then */
};

/* NAN, an absent value, is not added. `failed` becomes and stays true when memory runs out. */
void samples_add(struct samples *s, double value);
/* Room for `more` values after the last one, for a caller that writes them there and raises `count`: finite ones or
 * infinities. NULL: out of memory, and `failed` is set. */
double *samples_reserve(struct samples *s, size_t more);
void samples_clear(struct samples *s); /* keeps its memory */
void samples_sort(struct samples *s);
/* Prepares many samples for a few percentiles, which then only sort their neighbourhood: in a third of the time of
 * samples_sort. The figures below are to be asked before, as their last digits can depend on the order. */
void samples_partition(struct samples *s);
void samples_release(struct samples *s);

/* p in 0 … 100; NAN for an empty set. Sorts, unless partitioned. */
double samples_percentile(struct samples *s, double p);
/* The value that samples_sort would put at values[rank]. Sorts, unless partitioned. */
double samples_at_rank(struct samples *s, size_t rank);
double samples_mean(const struct samples *s);
double samples_std(const struct samples *s); /* population standard deviation, NumPy's default */

#define SAMPLES_FOR_INTERVAL 40

/* The 95 % confidence interval of the mean, as wide as that of n_eff independent samples (autocorrelation.h) or as
 * successive blocks of them say (block_noise.h), whichever is more, by Student's t with n_eff - 1 degrees of freedom or
 * with those of the blocks. If no sample is negative, as of latencies and counts, it is that of
 * the logarithm of the mean, whose standard error is error / mean (delta method): low and high are mean / f and mean *
 * f. Such an interval never reaches below 0, is the usual one where it is narrow, and holds the mean of skewed samples
 * more often: of 40 log-normal ones (sigma 1) in 92.4 % instead of 90.2 %. No interval makes up for too short a series:
 * with n_eff below 20 (50, if it is less than a third of the samples), the correlation is underestimated, and there is
 * none. */
struct mean_interval {
	double n_eff;     /* effective sample size, at most the number of samples; NAN: not known */
	double low, high; /* NAN: n_eff is too small */
};

/* All NAN with fewer than SAMPLES_FOR_INTERVAL samples, if one of them is infinite, and after anything that sorts,
 * since the order of arrival is then lost. */
struct mean_interval samples_mean_interval(const struct samples *s);

/* How many samples a percentile needs to count as firm: the binomial bound ln(0.01)/ln(p/100) at
 * 99 % confidence, 44 for p90, 459 for p99, 4603 for p99.9. Below 50 the mirrored percentile counts. p0 and p100 never
 * have enough: SIZE_MAX. */
size_t samples_needed(double p);

#endif
