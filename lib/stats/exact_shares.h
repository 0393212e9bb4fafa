/* Shares without approximation, for counts however small.
 *
 * C. Clopper, E. Pearson, "The use of confidence or fiducial limits", Biometrika 26 (1934); R. Fisher, "The Design of
 * Experiments" (1935); Q. McNemar, Psychometrika 12 (1947), in its exact form, a sign test.
 */
#ifndef IPF_EXACT_SHARES_H
#define IPF_EXACT_SHARES_H

#include <stdint.h>

struct exact_interval {
	double low, high;
};

/* The 95 % interval of Clopper and Pearson for the share of which `count` in `all` is a sample. `all` 0: 0 to 1. */
struct exact_interval share_exact_interval(int64_t count, int64_t all);

/* The probability of at least `more` among more + fewer equally likely signs: of two conditions on the same items,
 * `more` got worse and `fewer` got better. 1 without any. */
double share_sign_p(int64_t more, int64_t fewer);

/* The probability of a share of hits in the second group at least as high as this one, if both groups have the same:
 * Fisher's exact test, one-sided. 1 if a group is empty. Takes time with the number of hits. */
double share_fisher_p(int64_t hits1, int64_t all1, int64_t hits2, int64_t all2);

#endif
