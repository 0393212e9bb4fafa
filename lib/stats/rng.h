/* Seeded, independent random generators: each decision draws from a generator of its own name, so that adding one
 * option does not shift what the others draw.
 *
 *     struct rng gaps;
 *     rng_init(&gaps, seed, "gaps", stage);   // the same (seed, name, index) gives the same numbers, on every machine
 *     double x = rng_exponential(&gaps);
 *
 * xoshiro256++ seeded by SHA-256 of the three. The logarithm and the exponential that the distributions need are
 * computed here from IEEE's basic operations only, so that no C library's rounding shows in a schedule.
 */
#ifndef IPF_RNG_H
#define IPF_RNG_H

#include <stdint.h>

struct rng {
	uint64_t state[4];
};

void rng_init(struct rng *rng, uint64_t seed, const char *name, uint64_t index);
uint64_t rng_next(struct rng *rng);
uint64_t rng_below(struct rng *rng, uint64_t bound); /* unbiased, 0 … bound-1; bound > 0 */
double rng_uniform(struct rng *rng);                 /* [0, 1), 53 bits */
double rng_exponential(struct rng *rng);             /* mean 1 */
double rng_normal(struct rng *rng);                  /* mean 0, deviation 1 */
double rng_gamma(struct rng *rng, double shape);     /* scale 1, mean = shape; shape > 0 */

/* The same for many draws of one shape: what depends on the shape alone is worked out once. */
struct gamma_shape {
	double d, c, squeeze, power;
};
struct gamma_shape gamma_shape_of(double shape);
double rng_gamma_of(struct rng *rng, const struct gamma_shape *g);

#endif
