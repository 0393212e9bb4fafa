#include "rng.h"

#include <math.h>
#include <openssl/evp.h>
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
	return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

/* (0, 1]: what a logarithm can take. */
static double uniform_above_zero(struct rng *rng)
{
	return 1 - rng_uniform(rng);
}

double rng_exponential(struct rng *rng)
{
	return 0 - exact_log(uniform_above_zero(rng));
}

/* Marsaglia's polar method. Its second number is thrown away: the state stays four words, and a draw never depends on whether
 * another one came before. */
double rng_normal(struct rng *rng)
{
	double u, v, s;

	do {
		u = 2 * rng_uniform(rng) - 1;
		v = 2 * rng_uniform(rng) - 1;
		s = u * u + v * v;
	} while (s >= 1 || s == 0);
	return u * sqrt(-2 * exact_log(s) / s);
}

/* Marsaglia and Tsang, A Simple Method for Generating Gamma Variables (2000). */
double rng_gamma(struct rng *rng, double shape)
{
	double d, c, x, v, u;

	if (shape < 1) { /* G(shape) = G(shape + 1) U^(1/shape) */
		v = rng_gamma(rng, shape + 1);
		return v * exact_exp(exact_log(uniform_above_zero(rng)) / shape);
	}
	d = shape - 1.0 / 3;
	c = 1 / sqrt(9 * d);
	for (;;) {
		x = rng_normal(rng);
		v = 1 + c * x;
		if (v <= 0)
			continue;
		v = v * v * v;
		u = uniform_above_zero(rng);
		if (exact_log(u) < 0.5 * x * x + d - d * v + d * exact_log(v))
			return d * v;
	}
}
