/* Changes to recorded arrivals: fewer or more of them, and stamps of a coarse clock spread out. */
#ifndef PREP_ARRIVALS_H
#define PREP_ARRIVALS_H

#include "draft/reorder.h"

/* Many recorders stamp requests in ticks of a clock: all of a tick arrive at once. Each request is moved by a uniform
 * draw towards the next stamp, at most by the median distance between stamps; requests of the same stamp keep their
 * order. Before reorder_sort. 0, -1 when memory runs out. */
int arrivals_dequantise(struct reorder *h, uint64_t seed);

/* A unit that stays, or a copy of it. */
struct scaled_group {
	size_t group;
	int64_t copy;     /* 0: itself */
	int64_t shift_ns; /* of a copy: so much later (or earlier) than the original */
	int64_t at_ns;    /* the arrival, for the order; IPF_ABSENT */
};

/* Keeps or copies whole units so that there are `factor` times as many: each stays in floor(factor) copies, or one more
 * by chance. A copy arrives at another time near its original's: within ten mean gaps between units, and at least half
 * a minute. Never before `from_ns`. In the order of arrival. NULL when memory runs out; free() it. */
struct scaled_group *arrivals_scale(const struct draft_group *units, size_t count, double factor, int64_t from_ns,
                                    uint64_t seed, size_t *scaled);

#endif
