#include "stats/mser.h"

#include <math.h>

static double batch_mean(const double *values, size_t batch)
{
	double sum = 0;
	for (size_t i = 0; i < MSER_BATCH; i++)
		sum += values[batch * MSER_BATCH + i];
	return sum / MSER_BATCH;
}

bool mser5(const double *values, size_t count, size_t *from)
{
	const size_t batches = count / MSER_BATCH;
	double best = INFINITY, mean = 0, squares = 0;
	*from = 0;
	if (count < MSER_FEWEST)
		return false;
	/* from the end, one batch more each time (Welford) */
	for (size_t d = batches; d-- > 0;) {
		double value = batch_mean(values, d), n = (double)(batches - d), from_mean = value - mean;
		mean += from_mean / n;
		squares += from_mean * (value - mean);
		if (d <= batches / 2 && squares / (n * n) <= best) {
			best = squares / (n * n);
			*from = d * MSER_BATCH;
		}
	}
	return true;
}
