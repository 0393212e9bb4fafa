/* Independent gaps between arrivals, with mean 1. A kind with a constant rate multiplies them by the mean gap; a kind
 * whose rate changes lays them along the area under the rate.
 *
 *     struct gaps gaps;
 *     gaps_init(&gaps, GAPS_GAMMA, 2);
 *     at = gaps_first(&gaps, &rng);
 *     at += gaps_next(&gaps, &rng);
 */
#ifndef IPF_GAPS_H
#define IPF_GAPS_H

#include "stats/rng.h"

#include <stdbool.h>

enum gaps_kind {
	GAPS_POISSON,  /* exponential: cv is 1 */
	GAPS_CONSTANT, /* every gap is 1; the first one is 0 */
	GAPS_GAMMA,
	GAPS_WEIBULL,
	GAPS_UNIFORM, /* between 1 - w and 1 + w; cv = w/√3 */
};

struct gaps {
	enum gaps_kind kind;
	double shape, scale; /* the distribution's; for GAPS_UNIFORM its lower end and its width */
	struct gamma_shape gamma;
};

/* "poisson", …: the name of the process, and of the kind with a constant rate. */
const char *gaps_kind_name(enum gaps_kind kind);

/* The range of coefficients of variation that gaps_init takes for this kind. */
void gaps_bounds(enum gaps_kind kind, double *least, double *most);
/* `cv` is the coefficient of variation, within the bounds. NAN for a kind with only one, and for the largest one of
 * GAPS_UNIFORM. */
void gaps_init(struct gaps *gaps, enum gaps_kind kind, double cv);

double gaps_next(const struct gaps *gaps, struct rng *rng);

/* From a random moment to the next arrival. The moment is more likely in a long gap than in a short one: the gap around
 * it is drawn with its length as weight, and the rest of that gap is uniform. With an ordinary gap instead, a stage
 * would have too few arrivals at cv < 1 and too many at cv > 1 (some (cv² - 1)/2, fifty at cv=10). */
double gaps_first(const struct gaps *gaps, struct rng *rng);

#endif
