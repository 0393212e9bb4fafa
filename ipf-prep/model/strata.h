/* Uniform random numbers of which any run is spread evenly: within a block of up to 1024, each stratum occurs once, in
 * random order. Quantiles of values drawn by them are near those of the table after a block, while one draw says little
 * about the next.
 *
 *     struct strata turns;
 *     strata_init(&turns, seed, "like turns", 0, sessions);
 *     double u = strata_draw(&turns);
 */
#ifndef PREP_STRATA_H
#define PREP_STRATA_H

#include "stats/rng.h"

#include <stdbool.h>

enum { STRATA_MOST = 1024 };

struct strata {
	struct rng rng;
	uint16_t order[STRATA_MOST];
	int size, next;
	bool begun;
};

/* `expected`: about how many will be drawn; the first block is of this size. */
void strata_init(struct strata *strata, uint64_t seed, const char *name, uint64_t index, double expected);
/* [0, 1) */
double strata_draw(struct strata *strata);

#endif
