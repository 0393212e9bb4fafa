#include "figures/percentile_limits.h"

#include "stats/autocorrelation.h"
#include "stats/block_noise.h"
#include "stats/incomplete_beta.h"
#include "stats/student.h"

#include <math.h>

/* How many independent values the series `value <= limit` is worth, of which this share is so. */
static double worth(const double *values, size_t count, double limit, double share)
{
	double parts[BLOCKS_PARTS_MOST];
	const size_t number = count < BLOCKS_PARTS_MOST ? count : BLOCKS_PARTS_MOST;
	for (size_t i = 0; i < number; i++) {
		const size_t begin = i * count / number, end = (i + 1) * count / number;
		parts[i] = -share * (double)(end - begin);
		for (size_t k = begin; k < end; k++)
			parts[i] += values[k] <= limit;
	}
	const struct block_noise blocks = block_noise_of(parts, number);
	const struct mean_estimate series = mean_estimate_of(parts, number);
	const double few = student_critical(0.05, fmax(blocks.degrees, 1)) / STUDENT_95;
	const double error = fmax(sqrt(blocks.variance) * few, series.error * (double)number) / (double)count;
	return error > 0 ? fmin(share * (1 - share) / (error * error), (double)count) : (double)count;
}

/* The rank k of n values the percentile exceeds with this probability: P[at least k of n are below it]. */
static double rank_at(double n, double p, double probability)
{
	double low = 0, high = n + 1;
	for (int i = 0; i < 60; i++) {
		const double k = low + (high - low) / 2;
		if (incomplete_beta(p, 1 - p, k, n - k + 1) > probability)
			low = k;
		else
			high = k;
	}
	return low + (high - low) / 2;
}

/* The value of rank k of n, where there are `count` of them. */
static double value_at(struct samples *sorted, double k, double n)
{
	const double level = (k - 0.5) / n;
	if (k < 1)
		return -INFINITY;
	return k > n ? INFINITY : samples_percentile(sorted, 100 * fmin(fmax(level, 0), 1));
}

struct percentile_limits percentile_limits_of(const double *values, size_t count, struct samples *sorted, double p)
{
	struct percentile_limits limits = {NAN, NAN, NAN};
	const double share = p / 100;
	if (count < SAMPLES_FOR_INTERVAL)
		return limits;
	limits.n_eff = worth(values, count, samples_percentile(sorted, p), share);
	if (!mean_estimate_enough(limits.n_eff, (double)count) || limits.n_eff * fmin(share, 1 - share) < PERCENTILE_BEYOND)
		return limits;
	limits.low = value_at(sorted, rank_at(limits.n_eff, share, 0.975), limits.n_eff);
	limits.high = value_at(sorted, rank_at(limits.n_eff, share, 0.025), limits.n_eff);
	return limits;
}
