#include "rng.h"

#include "ziggurat.h"

#include <math.h>
#include <openssl/evp.h>
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
	unsigned char numbers[16], digest[EVP_MAX_MD_SIZE];
	EVP_MD_CTX *md = EVP_MD_CTX_new();

	put_le(numbers, seed);
	put_le(numbers + 8, index);
	/* This fails only where memory is gone or OpenSSL is broken; other numbers than the seed's would be a silent lie. */
	if (!md || !EVP_DigestInit_ex(md, EVP_sha256(), NULL) || !EVP_DigestUpdate(md, numbers, sizeof numbers) ||
	    !EVP_DigestUpdate(md, name, strlen(name)) || !EVP_DigestFinal_ex(md, digest, NULL))
		abort();
	EVP_MD_CTX_free(md);
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

/* Lemire, Fast Random Integer Generation in an Interval (2019): the high half of a product, rejecting the few low halves that
 * would make some results likelier. */
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

double rng_uniform(struct rng *rng)
{
	return (double)(int64_t)(rng_next(rng) >> 11) * 0x1p-53;
}

/* Marsaglia and Tsang, The Ziggurat Method for Generating Random Variables (2000): a point of a layer drawn at random is under the density, but
 * for some of those that the layer above does not reach over. Layer, sign and place have bits of their own, unlike theirs.
 *
 * One that it does not reach over: is it under the density, e^-exponent? That falls through the layer from e^-above to e^-below. */
static bool is_under(struct rng *rng, double exponent, double below, double above)
{
	double low = exact_exp(-below), high = exact_exp(-above);

	return low + rng_uniform(rng) * (high - low) < exact_exp(-exponent);
}

double rng_exponential(struct rng *rng)
{
	const double *edge = exponential_edges;
	double beyond = 0;

	for (;;) {
		uint64_t bits = rng_next(rng);
		size_t layer = bits % LAYERS;
		double x = (double)(int64_t)(bits >> 11) * 0x1p-53 * edge[layer];
		if (x < edge[layer + 1])
			return beyond + x;
		if (layer == 0) /* the tail, which is all of it again */
			beyond += edge[1];
		else if (is_under(rng, x, edge[layer], edge[layer + 1]))
			return beyond + x;
	}
}

/* Marsaglia's way: what is beyond the last edge. */
static double normal_tail(struct rng *rng)
{
	double edge = normal_edges[1], x;

	do
		x = rng_exponential(rng) / edge;
	while (2 * rng_exponential(rng) < x * x);
	return edge + x;
}

double rng_normal(struct rng *rng)
{
	const double *edge = normal_edges;

	for (;;) {
		uint64_t bits = rng_next(rng);
		size_t layer = bits % LAYERS;
		double x = (double)((int64_t)bits >> 10) * 0x1p-53 * edge[layer]; /* to both sides */
		if (fabs(x) < edge[layer + 1])
			return x;
		if (layer == 0)
			return copysign(normal_tail(rng), x);
		if (is_under(rng, x * x / 2, edge[layer] * edge[layer] / 2, edge[layer + 1] * edge[layer + 1] / 2))
			return x;
	}
}

/* Marsaglia and Tsang, A Simple Method for Generating Gamma Variables (2000). Their squeeze, u < 1 - 0.0331 x^4, spares most draws the
 * logarithms whatever the shape. What it is below is a d-th power, and d is 2/3 at least, so that by Bernoulli's inequality a d of more lets it
 * spare more. */
struct gamma_shape gamma_shape_of(double shape)
{
	double d = (shape < 1 ? shape + 1 : shape) - 1.0 / 3;

	return (struct gamma_shape){.d = d, .c = 1 / sqrt(9 * d), .squeeze = 0.0331 * 2 / 3 / d, .power = shape < 1 ? 1 / shape : 0};
}

double rng_gamma_of(struct rng *rng, const struct gamma_shape *g)
{
	double x, square, v, u;

	do {
		do {
			x = rng_normal(rng);
			v = 1 + g->c * x;
		} while (v <= 0);
		v = v * v * v;
		u = 1 - rng_uniform(rng); /* above 0: what a logarithm can take */
		square = x * x;
	} while (u >= 1 - g->squeeze * (square * square) && exact_log(u) >= 0.5 * square + g->d - g->d * v + g->d * exact_log(v));
	if (g->power > 0) /* G(shape) = G(shape + 1) U^(1/shape) */
		v *= exact_exp(-rng_exponential(rng) * g->power);
	return g->d * v;
}

double rng_gamma(struct rng *rng, double shape)
{
	struct gamma_shape g = gamma_shape_of(shape);

	return rng_gamma_of(rng, &g);
}
