/* The 95 % interval of a share: Wilson's score interval, which holds for small counts and for shares near 0 and 1,
 * where the usual one does not (Brown, Cai, DasGupta, "Interval Estimation for a Binomial Proportion", 2001).
 *
 *     struct share_interval i = share_interval(98, 100);       // 0.930 to 0.994
 *     share_interval_at(0.98, 40.5, 1.96)                      // of as many effective cases, at so many standard
 * errors
 */
#ifndef IPF_SHARE_INTERVAL_H
#define IPF_SHARE_INTERVAL_H

#include <stdint.h>

struct share_interval {
	double low, high; /* NAN of none */
};

/* `count` of `of` independent cases. */
struct share_interval share_interval(int64_t count, int64_t of);
/* `share` from 0 to 1, of `of` cases, which may be the effective number of correlated ones; z > 0. */
struct share_interval share_interval_at(double share, double of, double z);

#endif
