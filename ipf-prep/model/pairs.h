/* A random sample of pairs of numbers, of bounded size, and how the two are correlated.
 *
 *     struct pairs lengths = {0};
 *     pairs_add(&lengths, input_tokens, output_tokens);     // up to PAIRS_MOST are kept, each with the same
 * probability double correlation = pairs_rank_correlation(&lengths); pairs_release(&lengths);
 */
#ifndef PREP_PAIRS_H
#define PREP_PAIRS_H

#include "stats/rng.h"

#include <stdbool.h>
#include <stddef.h>

enum { PAIRS_MOST = 32768 };

/* Zero-initialise. */
struct pairs {
	double (*items)[2];
	size_t count, cap;
	int64_t seen; /* added */
	struct rng rng;
	bool failed; /* out of memory */
};

/* Keeps a pair in the place of another one once there are PAIRS_MOST (reservoir sampling, algorithm R). */
void pairs_add(struct pairs *pairs, double x, double y);
/* The rank of item i among the numbers on this side (0 or 1), from 0 to 1 in the middle of those equal to it: free()
 * it. NULL when out of memory. */
double *pairs_ranks(const struct pairs *pairs, int side);
/* Spearman's rank correlation. NAN: a side has one value only, or out of memory. */
double pairs_rank_correlation(const struct pairs *pairs);
void pairs_release(struct pairs *pairs);

#endif
