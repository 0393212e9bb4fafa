#include "rng.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DRAWS 20000

static void assert_close(double got, double wanted, double most)
{
	if (!(fabs(got - wanted) <= most) && !(got <= wanted && got >= wanted))
		fail_msg("got %.17g, expected %.17g", got, wanted);
}

/* The numbers below were computed apart from this code, by a few lines of Python (hashlib, the generator written down again from
 * its authors' page): a change of the stream would change every schedule. */
static void first_numbers(void **state)
{
	static const uint64_t gaps[] = {0xa0ae7c3a8524a020, 0x69f742ce448ead2d, 0xb2e2847022d13f9b, 0x41b49ce20eb5baae};
	struct rng rng;

	(void)state;
	rng_init(&rng, 1, "gaps", 0);
	for (size_t i = 0; i < sizeof gaps / sizeof *gaps; i++)
		assert_true(rng_next(&rng) == gaps[i]);
	rng_init(&rng, UINT64_MAX, "", 7);
	assert_true(rng_next(&rng) == 0x53b870f445b57f87);
	assert_true(rng_next(&rng) == 0xd47a525ec7ac47c5);
	rng_init(&rng, 1, "gaps", 0);
	assert_true(rng_below(&rng, 1000) == 627); /* 0xa0ae… / 2^64 × 1000 */
}

/* The same Python with its own logarithm: equal to the last bit where only exact operations lead there, else within 1e-15. */
static void first_draws(void **state)
{
	static const struct {
		double shape, first, second;
	} gammas[] = {
		{0.25, 0x1.3457cf0265a3fp+0, 0x1.24e23b9631c70p-13},
		{1, 0x1.bd7a9a0d6e05cp+1, 0x1.a80bf7f1507b1p-5},
		{4, 0x1.09c5d28f01e77p+3, 0x1.94ca446cddc34p+0},
	};
	struct rng rng;

	(void)state;
	rng_init(&rng, 1, "gaps", 0);
	assert_close(rng_uniform(&rng), 0x1.415cf8750a494p-1, 0);
	assert_close(rng_uniform(&rng), 0x1.a7dd0b39123aap-2, 0);
	rng_init(&rng, 1, "gaps", 0);
	assert_close(rng_exponential(&rng), 0x1.f9d528bf8127fp-1, 1e-15);
	assert_close(rng_exponential(&rng), 0x1.1191aed0b15afp-1, 1e-15);
	assert_close(rng_exponential(&rng), 0x1.332b2b794b004p+0, 1e-15);
	rng_init(&rng, 1, "gaps", 0);
	assert_close(rng_normal(&rng), 0x1.ccbcc2b5dcb5ap+0, 2e-15);
	assert_close(rng_normal(&rng), 0x1.b989cd33c9e08p-1, 2e-15);
	assert_close(rng_normal(&rng), -0x1.1416055f27cb8p-1, 2e-15);
	for (size_t i = 0; i < sizeof gammas / sizeof *gammas; i++) {
		rng_init(&rng, 1, "gaps", 0);
		assert_close(rng_gamma(&rng, gammas[i].shape), gammas[i].first, 1e-14);
		assert_close(rng_gamma(&rng, gammas[i].shape), gammas[i].second, 1e-14);
	}
}

/* A digest over many draws of every kind, so that a last bit that changes anywhere is noticed. */
static void all_bits(void **state)
{
	uint64_t hash = 0xcbf29ce484222325;
	struct rng rng;

	(void)state;
	rng_init(&rng, 42, "all", 3);
	for (int i = 0; i < 10000; i++) {
		double draws[] = {rng_uniform(&rng), rng_exponential(&rng), rng_normal(&rng), rng_gamma(&rng, 0.3), rng_gamma(&rng, 9)};
		unsigned char bytes[sizeof draws];
		memcpy(bytes, draws, sizeof draws);
		for (size_t b = 0; b < sizeof bytes; b++)
			hash = (hash ^ bytes[b]) * 0x100000001b3;
	}
	if (hash != 0x20a704113b7da96c)
		fail_msg("%016llx", (unsigned long long)hash);
}

static uint64_t first_of(uint64_t seed, const char *name, uint64_t index)
{
	struct rng rng;

	rng_init(&rng, seed, name, index);
	return rng_next(&rng);
}

/* Every part of (seed, name, index) makes another stream, and streams know nothing of one another. */
static void streams_are_independent(void **state)
{
	static const char *const names[] = {"gaps", "gap", "", "order", "lengths"};
	double sums[25][25] = {{0}};
	struct rng rngs[25];

	(void)state;
	assert_true(first_of(1, "gaps", 0) == first_of(1, "gaps", 0));
	assert_true(first_of(1, "gaps", 0) != first_of(2, "gaps", 0));
	assert_true(first_of(1, "gaps", 0) != first_of(1, "gaps", 1));
	assert_true(first_of(1, "gaps", 0) != first_of(1, "gapS", 0));
	assert_true(first_of(1, "", 256) != first_of(256, "", 1));
	for (size_t i = 0; i < 25; i++)
		rng_init(&rngs[i], 1 + i % 5 / 3, names[i / 5], i % 5);
	for (int n = 0; n < DRAWS; n++) {
		double draws[25];
		for (size_t i = 0; i < 25; i++)
			draws[i] = (rng_uniform(&rngs[i]) - 0.5) * sqrt(12);
		for (size_t i = 0; i < 25; i++)
			for (size_t j = 0; j < i; j++)
				sums[i][j] += draws[i] * draws[j];
	}
	/* each correlation is normal with deviation 1/sqrt(n); 300 of them stay below 4.5 deviations but once in 500 seeds */
	for (size_t i = 0; i < 25; i++)
		for (size_t j = 0; j < i; j++)
			if (fabs(sums[i][j] / DRAWS) > 4.5 / sqrt(DRAWS))
				fail_msg("streams %zu and %zu correlate: %g", i, j, sums[i][j] / DRAWS);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Kolmogorov–Smirnov: the greatest distance between the empirical and the wanted distribution, times sqrt(n). Above 1.95 once in
 * 1,000 seeds. */
static void follows(const char *what, uint64_t seed, double (*draw)(struct rng *, double), double (*cdf)(double, double),
                    double parameter)
{
	double *draws = calloc(DRAWS, sizeof *draws), distance = 0;
	struct rng rng;

	assert_non_null(draws);
	rng_init(&rng, seed, what, 0);
	for (int i = 0; i < DRAWS; i++)
		draws[i] = draw(&rng, parameter);
	qsort(draws, DRAWS, sizeof *draws, by_size);
	for (int i = 0; i < DRAWS; i++) {
		double p = cdf(draws[i], parameter);
		distance = fmax(distance, fmax(p - (double)i / DRAWS, (double)(i + 1) / DRAWS - p));
	}
	free(draws);
	print_message("# %s(%g): seed %llu, D sqrt(n) = %.3f\n", what, parameter, (unsigned long long)seed, distance * sqrt(DRAWS));
	if (!(distance * sqrt(DRAWS) < 1.95))
		fail_msg("%s(%g) with seed %llu: D sqrt(n) = %g", what, parameter, (unsigned long long)seed, distance * sqrt(DRAWS));
}

static double draw_uniform(struct rng *rng, double unused)
{
	(void)unused;
	return rng_uniform(rng);
}

static double draw_exponential(struct rng *rng, double unused)
{
	(void)unused;
	return rng_exponential(rng);
}

static double draw_normal(struct rng *rng, double unused)
{
	(void)unused;
	return rng_normal(rng);
}

static double cdf_uniform(double x, double unused)
{
	(void)unused;
	return x;
}

static double cdf_exponential(double x, double unused)
{
	(void)unused;
	return -expm1(-x);
}

static double cdf_normal(double x, double unused)
{
	(void)unused;
	return erfc(-x / sqrt(2)) / 2;
}

/* The regularised lower incomplete gamma function by its power series. */
static double cdf_gamma(double x, double shape)
{
	double term = exp(shape * log(x) - x - lgamma(shape + 1)), sum = 0;

	if (x == 0)
		return 0;
	for (int k = 1; k < 2000 && term > sum * 1e-16; k++) {
		sum += term;
		term *= x / (shape + k);
	}
	return sum;
}

static void distributions(void **state)
{
	(void)state;
	assert_close(cdf_gamma(2, 1), 1 - exp(-2), 1e-12);
	assert_close(cdf_gamma(3, 0.5), erf(sqrt(3)), 1e-12);
	for (uint64_t seed = 1; seed <= 3; seed++) {
		follows("uniform", seed, draw_uniform, cdf_uniform, 0);
		follows("exponential", seed, draw_exponential, cdf_exponential, 0);
		follows("normal", seed, draw_normal, cdf_normal, 0);
		follows("gamma", seed, rng_gamma, cdf_gamma, 0.1);
		follows("gamma", seed, rng_gamma, cdf_gamma, 0.5);
		follows("gamma", seed, rng_gamma, cdf_gamma, 1);
		follows("gamma", seed, rng_gamma, cdf_gamma, 4);
		follows("gamma", seed, rng_gamma, cdf_gamma, 100);
	}
}

static void uniform_stays_in_range(void **state)
{
	struct rng zero = {{0}}, ones = {{0, 0, 0, UINT64_MAX}}; /* states that draw the least and the greatest number */

	(void)state;
	assert_close(rng_uniform(&zero), 0, 0);
	assert_close(rng_exponential(&zero), 0, 0);
	assert_false(signbit(rng_exponential(&zero)));
	assert_close(rng_uniform(&ones), 1 - 0x1p-53, 0);
	ones = (struct rng){{0, 0, 0, UINT64_MAX}};
	assert_close(rng_exponential(&ones), 53 * log(2), 1e-13);
}

/* Pearson's chi-square; for so many cells it is normal enough with mean k - 1 and variance 2 (k - 1). */
static void below_is_even(void **state)
{
	static const uint64_t bounds[] = {1, 2, 3, 7, 10, 100, 1000};
	struct rng rng;

	(void)state;
	for (size_t b = 0; b < sizeof bounds / sizeof *bounds; b++) {
		uint64_t bound = bounds[b];
		double counts[1000] = {0}, expected = 5.0 * DRAWS / (double)bound, chi = 0;
		rng_init(&rng, 5, "below", bound);
		for (int i = 0; i < 5 * DRAWS; i++) {
			uint64_t drawn = rng_below(&rng, bound);
			assert_true(drawn < bound);
			counts[drawn]++;
		}
		for (uint64_t i = 0; i < bound; i++)
			chi += (counts[i] - expected) * (counts[i] - expected) / expected;
		print_message("# below(%llu): seed 5, chi-square %.1f\n", (unsigned long long)bound, chi);
		assert_true(chi < (double)bound - 1 + 4 * sqrt(2 * (double)bound) + 4);
	}
}

/* Where two 64-bit numbers lead to some results and one to others: half of all that is drawn would be divisible by three. */
static void below_is_even_for_great_bounds(void **state)
{
	uint64_t third = UINT64_C(1) << 62;
	int counts[3] = {0};
	struct rng rng;

	(void)state;
	rng_init(&rng, 6, "below", 0);
	for (int i = 0; i < 3 * DRAWS; i++)
		counts[rng_below(&rng, 3 * third) % 3]++;
	for (int i = 0; i < 3; i++)
		assert_true(abs(counts[i] - DRAWS) < 5 * (int)sqrt(DRAWS));
	for (int i = 0; i < 100; i++)
		assert_true(rng_below(&rng, UINT64_MAX) < UINT64_MAX);
}

static void check_log(double x)
{
	long double wanted = logl((long double)x), error;

	error = wanted == 0 ? fabsl((long double)exact_log(x)) : fabsl(((long double)exact_log(x) - wanted) / wanted);
	if (!(error < 1e-15L))
		fail_msg("log %a: %a, wrong by %Lg", x, exact_log(x), error);
}

static void check_exp(double x)
{
	long double wanted = expl((long double)x), error;

	error = fabsl(((long double)exact_exp(x) - wanted) / wanted);
	if (!(error < 1e-15L))
		fail_msg("exp %a: %a, wrong by %Lg", x, exact_exp(x), error);
}

static void logarithm(void **state)
{
	struct rng rng;

	(void)state;
	rng_init(&rng, 8, "log", 0);
	for (int i = 0; i < 50000; i++) {
		double u = 1 + rng_uniform(&rng);
		check_log(ldexp(u, (int)rng_below(&rng, 2045) - 1022)); /* all magnitudes */
		check_log(u);
		check_log(u / 2);
		check_log(1 - ldexp(u, -1 - (int)rng_below(&rng, 52))); /* close to 1 */
		check_log(1 + ldexp(u, -1 - (int)rng_below(&rng, 51)));
		check_log(ldexp(floor(ldexp(u, (int)rng_below(&rng, 50))), -1074)); /* subnormal */
		check_log(sqrt(0.5) + (u - 1.5) * 1e-12);
	}
	check_log(5e-324);
	check_log(1.7976931348623157e308);
	assert_close(exact_log(1), 0, 0);
	assert_true(isinf(exact_log(0)) && exact_log(0) < 0);
	assert_true(isinf(exact_log(INFINITY)) && exact_log(INFINITY) > 0);
	assert_true(isnan(exact_log(-1)) && isnan(exact_log(NAN)) && isnan(exact_log(-INFINITY)));
}

static void exponential(void **state)
{
	struct rng rng;

	(void)state;
	rng_init(&rng, 9, "exp", 0);
	for (int i = 0; i < 100000; i++) {
		double u = 2 * rng_uniform(&rng) - 1;
		check_exp(u * 708);
		check_exp(u);
		check_exp(ldexp(u, -(int)rng_below(&rng, 60)));
	}
	check_exp(709.78271289338397);
	check_exp(-708.39641853226408);
	assert_close(exact_exp(0), 1, 0);
	assert_true(isinf(exact_exp(709.79)) && isinf(exact_exp(1e300)) && isinf(exact_exp(INFINITY)));
	assert_close(exact_exp(-745), 5e-324, 0);
	assert_close(exact_exp(-746), 0, 0);
	assert_close(exact_exp(-INFINITY), 0, 0);
	assert_true(isnan(exact_exp(NAN)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_numbers), cmocka_unit_test(first_draws), cmocka_unit_test(all_bits),
		cmocka_unit_test(streams_are_independent), cmocka_unit_test(distributions), cmocka_unit_test(uniform_stays_in_range),
		cmocka_unit_test(below_is_even), cmocka_unit_test(below_is_even_for_great_bounds), cmocka_unit_test(logarithm),
		cmocka_unit_test(exponential),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
