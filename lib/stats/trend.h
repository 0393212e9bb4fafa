/* Does a series rise or fall? The least-squares line through its values, and how well its slope is known although
 * neighbours are correlated.
 *
 *     struct trend t = trend_of(values, count);
 *     double most = fabs(t.slope) + t.error * student_quantile(STUDENT_99_9, t.degrees);   // per value
 *     if (fabs(t.slope) > t.error * student_quantile(STUDENT_99, t.degrees)) …             // there is a trend
 *
 * The standard error and its degrees of freedom use the effective size of the residuals instead of the number of
 * values, as in Santer et al., "Statistical significance of trends and trend differences in layer-average atmospheric
 * temperature time series", J. Geophys. Res. 105(D6), 2000 ("AdjSE + AdjDF"); the effective size is that of
 * autocorrelation.h instead of the one from the first lag only.
 *
 * Pure; the same bits on every machine.
 */
#ifndef IPF_TREND_H
#define IPF_TREND_H

#include <stddef.h>

#define TREND_FEWEST 5 /* values */

struct trend {
	double slope;   /* per step from one value to the next; NAN: fewer than TREND_FEWEST values, or out of memory */
	double error;   /* its standard error; 0 if the values are on a line */
	double degrees; /* degrees of freedom: effective size of the residuals less 2; may be below 1 */
};

/* Values must be finite. */
struct trend trend_of(const double *values, size_t count);

#endif
