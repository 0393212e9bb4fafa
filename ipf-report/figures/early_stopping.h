/* MLPerf's early-stopping estimate of a percentile: an upper bound of it at 99 % confidence, from as many samples as
 * there are.
 *
 *     int64_t t = early_stopping_discard(1000, 99);    // 3: the estimate is the third highest of 1,000 latencies
 *     double p99 = early_stopping_estimate(&samples, failures, 99);
 *     int64_t n = early_stopping_needed(1, 99);        // 662: so many samples allow one above the percentile
 *
 * For n samples, let t be the largest number such that t or fewer of n would be above the percentile with a probability
 * below 1 %, if each is with probability 1 - p: P[Binomial(n, 1 - p) <= t] < 0.01. The estimate is the t-th highest
 * sample; without such a t >= 1, there are too few. This is the rule of LoadGen (mlcommons/inference,
 * loadgen/results.cc and early_stopping.cc, 2025: confidence 0.99, tolerance 0), which states it by the regularised
 * incomplete beta function as the least number of samples for each t.
 */
#ifndef REPORT_EARLY_STOPPING_H
#define REPORT_EARLY_STOPPING_H

#include "stats/samples.h"

#include <stdint.h>

/* t; 0: there are too few samples. p: above 0 and below 100. */
int64_t early_stopping_discard(int64_t n, double p);
/* The least number of samples for which P[Binomial(n, 1 - p) <= above] < 0.01: so many show that the percentile is
 * below a limit if `above` of them (0 or more) are above it. LoadGen calls it h + t. */
int64_t early_stopping_needed(int64_t above, double p);
/* Takes the samples, which it sorts, and `infinite` more at infinity; NAN: too few. */
double early_stopping_estimate(struct samples *s, int64_t infinite, double p);

#endif
