#include "stats/trend.h"

#include "stats/autocorrelation.h"

#include <math.h>
#include <stdlib.h>

struct trend trend_of(const double *values, size_t count)
{
	const double n = (double)count, middle = (n - 1) / 2, spread = n * (n * n - 1) / 12;
	struct trend t = {NAN, NAN, 0};
	double *residuals = count >= TREND_FEWEST ? malloc(count * sizeof *residuals) : NULL;
	if (!residuals)
		return t;
	double mean = 0, product = 0, squares = 0;
	for (size_t i = 1; i < count; i++)
		mean += (values[i] - values[0]) / n;
	mean += values[0];
	for (size_t i = 0; i < count; i++)
		product += ((double)i - middle) * (values[i] - mean);
	t.slope = product / spread;
	for (size_t i = 0; i < count; i++) {
		residuals[i] = values[i] - mean - t.slope * ((double)i - middle);
		squares += residuals[i] * residuals[i];
	}
	t.degrees = mean_estimate_of(residuals, count).n_eff - 2;
	/* with fewer degrees student_quantile is infinite in any case */
	t.error = sqrt(squares / fmax(t.degrees, 1) / spread);
	free(residuals);
	return t;
}
