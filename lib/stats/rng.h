/* Seeded random number generators. Each decision draws from a separate generator with its own name, so an additional
 * option does not change the numbers the other decisions draw.
 *
 *     struct rng gaps;
 *     rng_init(&gaps, seed, "gaps", stage);   // seed, name and index determine the numbers, on every machine
 *     double x = rng_exponential(&gaps);
 *
 * The generator is xoshiro256++, seeded by the SHA-256 of seed, name and index. The distributions use exact_math.h, so
 * the rounding of the C library never shows in a schedule.
 */
#ifndef IPF_RNG_H
#define IPF_RNG_H

#include <stdint.h>

struct rng {
	uint64_t state[4];
};

void rng_init(struct rng *rng, uint64_t seed, const char *name, uint64_t index);
uint64_t rng_next(struct rng *rng);
uint64_t rng_below(struct rng *rng, uint64_t bound); /* 0 … bound - 1, unbiased; bound > 0 */
double rng_uniform(struct rng *rng);                 /* [0, 1), 53 bits */
double rng_exponential(struct rng *rng);             /* mean 1 */
double rng_normal(struct rng *rng);                  /* mean 0, standard deviation 1 */
double rng_gamma(struct rng *rng, double shape);     /* scale 1, mean = shape; shape > 0 */

/* The same for many draws with one shape: values that depend only on the shape are computed once. */
struct gamma_shape {
	double d, c, squeeze, power;
};
struct gamma_shape gamma_shape_of(double shape);
double rng_gamma_of(struct rng *rng, const struct gamma_shape *g);

#endif
