/* Random numbers for one decision about one request. They depend only on the seed, the decision's name and the
 * record's number, so a record becomes the same request whichever others are kept, and adding a decision changes none
 * of the others. */
#ifndef PREP_DRAFT_RNG_H
#define PREP_DRAFT_RNG_H

#include "draft/draft.h"
#include "stats/rng.h"

/* `turn`: the request's index in the draft. */
static inline struct rng draft_rng(uint64_t seed, const char *decision, const struct draft *d, size_t turn)
{
	struct rng rng;
	/* Odd constants spread mostly small numbers over all 64 bits, so no two requests collide. */
	rng_init(&rng, seed, decision,
	         (uint64_t)d->number + (uint64_t)d->part * UINT64_C(0x9e3779b97f4a7c15) +
	             (uint64_t)d->copy * UINT64_C(0xbf58476d1ce4e5b9) + (uint64_t)turn * UINT64_C(0x94d049bb133111eb));
	return rng;
}

#endif
