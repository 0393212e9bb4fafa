/* The 95 % interval of a percentile: between which of the values could it be? No assumption on their distribution is
 * made; the ranks follow from the binomial distribution (H. A. David and H. N. Nagaraja, "Order Statistics", 2003,
 * section 7.1), with as many independent values as the correlated ones are worth.
 *
 *     struct percentile_limits l = percentile_limits_of(values, count, &sorted, 99);
 *     if (!isnan(l.low)) …                                     // l.high is INFINITY: no value is so far out
 *
 * How many they are worth: whether a value is at most the percentile is a series of its own, whose mean varies as its
 * autocorrelation says, or as successive blocks of it do, whichever is more.
 */
#ifndef IPF_PERCENTILE_LIMITS_H
#define IPF_PERCENTILE_LIMITS_H

#include "stats/samples.h"

/* Fewer independent values beyond the percentile tell nothing; see mean_estimate_enough() as well. */
#define PERCENTILE_BEYOND 2.0

struct percentile_limits {
	double low, high; /* NAN: not known; INFINITY, -INFINITY: beyond all values */
	double n_eff;     /* how many independent values tell as much; NAN */
};

/* `values` in the order of time, `sorted` the same ones (it is sorted if it is not); p above 0 and below 100. */
struct percentile_limits percentile_limits_of(const double *values, size_t count, struct samples *sorted, double p);

#endif
