/* Draws units out of a list: all of them in random order, some of them with replacement, or copies of them. Each adds
 * its draws to another list, whose keys are the order of the draws.
 *
 *     unit_draws_shuffle(&units, count, &rng, &drawn, &err);
 *     draft_sorter_begin(&drawn, &err);
 *
 * Units are in the order of the sorter, the drafts of each behind each other, with its struct unit as facts; `count` is
 * their number. A draft drawn again has a higher `copy`.
 */
#ifndef PREP_UNIT_DRAWS_H
#define PREP_UNIT_DRAWS_H

#include "draft/draft_sorter.h"
#include "draft/reorder.h"
#include "stats/rng.h"

/* Takes 8 bytes of memory a unit. IPF_USAGE: more than memory_limit.h allows. */
int unit_draws_shuffle(struct draft_sorter *units, uint64_t count, struct rng *rng, struct draft_sorter *drawn,
                       struct ipf_error *err);

/* How many are drawn with replacement; IPF_ABSENT: no limit. */
struct draw_limits {
	int64_t requests, units;
	int64_t too_long; /* set to the requests of a unit with more than the rest of `requests`; else 0 */
};

/* Draws until a limit is reached, or a unit has too many requests for the first. Memory as above. */
int unit_draws_replacing(struct draft_sorter *units, uint64_t count, struct draw_limits *limits, struct rng *rng,
                         struct draft_sorter *drawn, struct ipf_error *err);

struct scaling {
	double factor;
	int64_t from_ns; /* no copy arrives before */
	uint64_t seed;
};

/* Keeps, drops or copies units to about `factor` times as many: each occurs floor(factor) times, or once more with the
 * probability of the remainder. A copy arrives within a window around its original, ten mean gaps between units wide to
 * either side and at least 30 s. The draws are sorted by arrival. */
int unit_draws_scale(struct draft_sorter *units, uint64_t count, const struct scaling *scaling,
                     struct draft_sorter *drawn, struct ipf_error *err);

#endif
