#include "stats/rng.h"

#include "stats/exact_math.h"
#include "stats/ziggurat.h"

#include <math.h>
#define OPENSSL_SUPPRESS_DEPRECATED /* these allocate nothing, so they cannot fail */
#include <openssl/sha.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void put_le(unsigned char *to, uint64_t value)
{
	for (int i = 0; i < 8; i++)
		to[i] = (unsigned char)(value >> (8 * i));
}

static uint64_t get_le(const unsigned char *from)
{
	uint64_t value = 0;

	for (int i = 7; i >= 0; i--)
		value = value << 8 | from[i];
	return value;
}

void rng_init(struct rng *rng, uint64_t seed, const char *name, uint64_t index)
{
	unsigned char numbers[16], digest[SHA256_DIGEST_LENGTH];
	SHA256_CTX sum;

	put_le(numbers, seed);
	put_le(numbers + 8, index);
	SHA256_Init(&sum);
	SHA256_Update(&sum, numbers, sizeof numbers);
	SHA256_Update(&sum, name, strlen(name));
	SHA256_Final(digest, &sum);
	for (int i = 0; i < 4; i++)
		rng->state[i] = get_le(digest + 8 * i);
}

static uint64_t rotate(uint64_t x, int bits)
{
	return x << bits | x >> (64 - bits);
}

/* xoshiro256++ 1.0 by Blackman and Vigna, https://prng.di.unimi.it/ */
uint64_t rng_next(struct rng *rng)
{
	uint64_t *s = rng->state;
	uint64_t result = rotate(s[0] + s[3], 23) + s[0], shifted = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= shifted;
	s[3] = rotate(s[3], 45);
	return result;
}

/* Lemire, Fast Random Integer Generation in an Interval (2019): the high half of a product; rejects the few low halves
 * that would bias the result. */
uint64_t rng_below(struct rng *rng, uint64_t bound)
{
	unsigned __int128 product = (unsigned __int128)rng_next(rng) * bound;
	uint64_t threshold;

	if ((uint64_t)product < bound) {
		threshold = (0 - bound) % bound;
		while ((uint64_t)product < threshold)
			product = (unsigned __int128)rng_next(rng) * bound;
	}
	return (uint64_t)(product >> 64);
}

static double uniform_from(uint64_t bits)
{
	return (double)(int64_t)(bits >> 11) * 0x1p-53;
}

double rng_uniform(struct rng *rng)
{
	return uniform_from(rng_next(rng));
}

/* Marsaglia and Tsang, The Ziggurat Method for Generating Random Variables (2000): a random point of a random layer is
 * under the density for sure if the layer above covers its x; otherwise that is checked. Unlike in their version,
 * layer, sign and position use different bits. The code for one draw in fifty is in separate functions, so the other
 * draws need not save registers. */

/* Whether a random point at this x, which the layer above does not cover, is under the density, e^-exponent. The layer
 * spans the heights from e^-below to e^-above. */
static bool is_under(struct rng *rng, double exponent, double below, double above)
{
	double low = exact_exp(-below), high = exact_exp(-above);

	return low + rng_uniform(rng) * (high - low) < exact_exp(-exponent);
}

#define RARELY __attribute__((cold, noinline))

RARELY static double exponential_rest(struct rng *rng, size_t layer, double x)
{
	const double *edge = exponential_edges;

	if (layer == 0) /* the tail, which has the shape of the whole */
		return edge[1] + rng_exponential(rng);
	return is_under(rng, x, edge[layer], edge[layer + 1]) ? x : rng_exponential(rng);
}

static double exponential_from(struct rng *rng, uint64_t bits)
{
	size_t layer = bits % LAYERS;
	double x = uniform_from(bits) * exponential_edges[layer];

	return x < exponential_edges[layer + 1] ? x : exponential_rest(rng, layer, x);
}

double rng_exponential(struct rng *rng)
{
	return exponential_from(rng, rng_next(rng));
}

RARELY static double normal_rest(struct rng *rng, size_t layer, double x)
{
	const double *edge = normal_edges;
	double beyond;

	if (layer == 0) { /* Marsaglia's method for the tail */
		do
			beyond = rng_exponential(rng) / edge[1];
		while (2 * rng_exponential(rng) < beyond * beyond);
		return copysign(edge[1] + beyond, x);
	}
	return is_under(rng, x * x / 2, edge[layer] * edge[layer] / 2, edge[layer + 1] * edge[layer + 1] / 2)
	           ? x
	           : rng_normal(rng);
}

static double normal_from(struct rng *rng, uint64_t bits)
{
	size_t layer = bits % LAYERS;
	double x = (double)((int64_t)bits >> 10) * 0x1p-53 * normal_edges[layer]; /* positive or negative */

	return fabs(x) < normal_edges[layer + 1] ? x : normal_rest(rng, layer, x);
}

double rng_normal(struct rng *rng)
{
	return normal_from(rng, rng_next(rng));
}

/* Marsaglia and Tsang, A Simple Method for Generating Gamma Variables (2000). Their squeeze, u < 1 - 0.0331 x^4, saves
 * most draws the logarithms, whatever the shape. The bound it approximates is a d-th power, and d is at least 2/3: by
 * Bernoulli's inequality a larger d allows a tighter squeeze, which saves more of them. */
struct gamma_shape gamma_shape_of(double shape)
{
	double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;

	return (struct gamma_shape){
		.d = d, .c = 1 / sqrt(9 * d), .squeeze = 0.0331 * 2 / 3 / d, .power = shape < 1 ? 1 / shape : 0};
}

/* All bits are drawn at once, so the generator's state stays in registers. */
double rng_gamma_of(struct rng *rng, const struct gamma_shape *g)
{
	uint64_t for_power = g->power > 0 ? rng_next(rng) : 0;
	double x, square, v, u;

	do {
		uint64_t for_normal = rng_next(rng), for_uniform = rng_next(rng);
		x = normal_from(rng, for_normal);
		u = 1 - uniform_from(for_uniform); /* above 0, for the logarithm */
		v = 1 + g->c * x;
		v = v * v * v;
		square = x * x;
	} while (v <= 0 || (u >= 1 - g->squeeze * (square * square) &&
	                    exact_log(u) >= 0.5 * square + g->d - g->d * v + g->d * exact_log(v)));
	if (g->power > 0) /* G(shape) = G(shape + 1) U^(1/shape) */
		v *= exact_exp(-exponential_from(rng, for_power) * g->power);
	return g->d * v;
}

double rng_gamma(struct rng *rng, double shape)
{
	struct gamma_shape g = gamma_shape_of(shape);

	return rng_gamma_of(rng, &g);
}
