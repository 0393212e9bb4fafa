#include "stats/autocorrelation.h"

#include <math.h>
#include <stdlib.h>

static double mean_of(const double *values, size_t count)
{
	double sum = 0;
	/* from the first value on: a series on a large offset keeps its digits */
	for (size_t i = 1; i < count; i++)
		sum += values[i] - values[0];
	return count ? values[0] + sum / (double)count : NAN;
}

double autocovariance(const double *values, size_t count, double mean, size_t lag)
{
	double sum = 0;
	for (size_t i = 0; i + lag < count; i++)
		sum += (values[i] - mean) * (values[i + lag] - mean);
	return sum / (double)count;
}

double autocovariance_sum(const double *values, size_t count, double mean, size_t lag, double at_lag)
{
	double sum = 0, last = INFINITY;
	for (; lag + 1 < count; lag += 2) {
		double pair = at_lag + autocovariance(values, count, mean, lag + 1);
		if (!(pair > 0))
			break;
		last = fmin(last, pair);
		sum += last;
		at_lag = autocovariance(values, count, mean, lag + 2);
	}
	return sum;
}

double autocorrelation_time(const double *values, size_t count)
{
	double mean = mean_of(values, count), variance = autocovariance(values, count, mean, 0);
	if (count < 4 || !(variance > 0))
		return 1;
	return fmax(2 * autocovariance_sum(values, count, mean, 0, variance) / variance - 1, 0);
}

/* The means of equal batches; their sizes differ by at most one. NULL: out of memory. */
static double *batch_means(const double *values, size_t count, size_t batches)
{
	double *means = malloc(batches * sizeof *means);
	for (size_t i = 0; means && i < batches; i++) {
		size_t begin = i * count / batches, end = (i + 1) * count / batches;
		means[i] = mean_of(values + begin, end - begin);
	}
	return means;
}

bool mean_estimate_enough(double n_eff, double count)
{
	return n_eff >= (3 * n_eff < count ? 50 : 20);
}

struct mean_estimate mean_estimate_of(const double *values, size_t count)
{
	struct mean_estimate e = {.mean = mean_of(values, count), .n_eff = (double)count, .error = NAN};
	double variance = autocovariance(values, count, e.mean, 0), of_mean = variance / (double)count;
	if (count <= AUTOCORRELATION_BATCHES) {
		of_mean *= autocorrelation_time(values, count);
	} else {
		const size_t m = AUTOCORRELATION_BATCHES;
		double *means = batch_means(values, count, m);
		if (means)
			of_mean = autocovariance(means, m, mean_of(means, m), 0) / (double)m * autocorrelation_time(means, m);
		free(means);
	}
	if (of_mean > 0)
		e.n_eff = fmax(fmin(variance / of_mean, (double)count), 1);
	if (e.n_eff > 1)
		e.error = sqrt(variance / (e.n_eff - 1));
	return e;
}
