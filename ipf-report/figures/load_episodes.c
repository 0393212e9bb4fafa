#include "figures/load_episodes.h"

#include "stats/autocorrelation.h"

#include <math.h>
#include <stdbool.h>

enum { BINS_MOST = 512, BIN_ARRIVALS = 4, BLOCKS = 20 };

/* Dispersion (variance / mean) of twentieths a Poisson process exceeds once in 1,000 times: χ² with 19 degrees of
 * freedom, 43.82, / 19. */
#define DISPERSION_CHANCE 2.306
/* The standard deviation of the rate, as a share of it, below which it does not matter. */
#define VARIATION_LEAST 0.15

static double mean_of(const double *values, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += values[i];
	return sum / (double)count;
}

static void count_bins(const double *due, size_t count, double length, double *bins, size_t number)
{
	for (size_t b = 0; b < number; b++)
		bins[b] = 0;
	for (size_t i = 0; i < count; i++) {
		const double at = due[i] / length * (double)number;
		if (at >= 0)
			bins[at < (double)number ? (size_t)at : number - 1]++;
	}
}

static bool changes(const double *due, size_t count, double length)
{
	double blocks[BLOCKS];
	count_bins(due, count, length, blocks, BLOCKS);
	const double mean = mean_of(blocks, BLOCKS),
				 variance = autocovariance(blocks, BLOCKS, mean, 0) * BLOCKS / (BLOCKS - 1.0);
	return variance > DISPERSION_CHANCE * mean && variance - mean > VARIATION_LEAST * VARIATION_LEAST * mean * mean;
}

double load_episodes(const double *due, size_t count, double length)
{
	double bins[BINS_MOST];
	const size_t number = count / BIN_ARRIVALS < BINS_MOST ? count / BIN_ARRIVALS : BINS_MOST;
	if (count < 2 * BLOCKS || !(length > 0) || number < 3 || !changes(due, count, length))
		return INFINITY;
	count_bins(due, count, length, bins, number);
	const double mean = mean_of(bins, number), first = autocovariance(bins, number, mean, 1),
				 excess = fmax(first, autocovariance(bins, number, mean, 0) - mean);
	const double time = 1 + 2 * autocovariance_sum(bins, number, mean, 1, first) / excess;
	/* the mean subtracted has been seen no more often than the load has changed */
	return fmax((double)number / time - 1, 1);
}
