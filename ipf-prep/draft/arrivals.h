/* Changes to recorded arrivals: more or fewer of them, and the timestamps of a coarse clock spread out. */
#ifndef PREP_ARRIVALS_H
#define PREP_ARRIVALS_H

#include "draft/reorder.h"

/* Spreads out timestamps of a coarse clock, which make all requests of a clock tick arrive at once. Each arrival is
 * moved by a uniform draw towards the next timestamp, by at most the median distance between timestamps; requests with
 * the same timestamp keep their order. Call it before reorder_sort. 0, or -1 when out of memory. */
int arrivals_dequantise(struct reorder *h, uint64_t seed);

/* A group that is kept, or a copy of it. */
struct scaled_group {
	size_t group;     /* its index */
	int64_t copy;     /* 0: the group itself; 1, 2, …: a copy */
	int64_t shift_ns; /* how much later than the original a copy arrives; may be negative */
	int64_t at_ns;    /* the arrival; IPF_ABSENT if not known */
};

/* Keeps, drops or copies whole groups so that there are about `factor` times as many: each occurs floor(factor) times,
 * or once more with the probability of the remainder. A copy arrives within a window around its original, ten mean gaps
 * between groups wide to either side and at least 30 s, but never before `from_ns`. The result, of *scaled elements, is
 * sorted by arrival: free() it. NULL when out of memory. */
struct scaled_group *arrivals_scale(const struct draft_group *groups, size_t count, double factor, int64_t from_ns,
                                    uint64_t seed, size_t *scaled);

#endif
