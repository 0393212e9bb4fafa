/* Several tests at once: of twenty true null hypotheses, one is below p = 0.05 on average. Adjusted p values count that
 * in: where all below 0.05 are taken for differences, the probability of a single false one among them is at most 5 %,
 * however the tests depend on each other.
 *
 *     double p[3] = {0.01, 0.04, 0.03};
 *     holm_adjust(p, 3);                       // 0.03, 0.06, 0.06
 *
 * S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6(2), 1979.
 */
#ifndef IPF_HOLM_H
#define IPF_HOLM_H

#include <stddef.h>

enum { HOLM_MOST = 256 };

/* Replaces p values by adjusted ones, at most 1. NAN, a test not made, stays and is not counted. At most HOLM_MOST of
 * them. */
void holm_adjust(double *p, size_t count);

#endif
