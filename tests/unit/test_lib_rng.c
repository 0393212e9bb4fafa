#include "stats/rng.h"

#include "stats/exact_math.h"
#include "stats/ziggurat.h"

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

/* The numbers below were computed apart from this code, by a few lines of Python (hashlib, the generator written down
 * again from its authors' page): a change of the stream would change every schedule. */
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

/* The same Python with tables of its own (decimal, 60 digits), its own logarithm and exponential, and no squeeze: equal
 * to the last bit where only exact operations lead there, else within 1e-15 or so. */
static void first_draws(void **state)
{
	static const struct {
		double shape, first, second;
	} gammas[] = {
		{0.25, 0x1.edc548be9a654p-12, 0x1.cc03179f879c4p-1},
		{1, 0x1.b5fbad96fe271p-7, 0x1.9500190f589ebp-3},
		{4, 0x1.339b191235a4bp+0, 0x1.286aaa804624fp+1},
	};
	double sum = 0;
	struct rng rng;

	(void)state;
	rng_init(&rng, 1, "gaps", 0);
	assert_close(rng_uniform(&rng), 0x1.415cf8750a494p-1, 0);
	assert_close(rng_uniform(&rng), 0x1.a7dd0b39123aap-2, 0);
	rng_init(&rng, 1, "gaps", 0);
	assert_close(rng_exponential(&rng), 0x1.21e76e513c0bfp+1, 1e-15);
	assert_close(rng_exponential(&rng), 0x1.4f4819e3ee767p+0, 1e-15);
	assert_close(rng_exponential(&rng), 0x1.e37b4f0d35722p-1, 1e-15);
	for (int i = 3; i < 586; i++)
		assert_true(rng_exponential(&rng) < exponential_edges[1]);
	assert_close(rng_exponential(&rng), 0x1.f5c7b77c523b2p+2, 1e-14); /* the first of the tail */
	rng_init(&rng, 1, "gaps", 0);
	assert_close(rng_normal(&rng), -0x1.c8b785a5ee47cp+0, 2e-15);
	assert_close(rng_normal(&rng), 0x1.d737dafd9f4c8p+0, 2e-15);
	assert_close(rng_normal(&rng), -0x1.a1bb3de4eccb0p-1, 2e-15);
	for (int i = 3; i < 1114; i++)
		assert_true(fabs(rng_normal(&rng)) < normal_edges[1]);
	assert_close(rng_normal(&rng), -0x1.f2f25de95ec77p+1, 1e-14);
	for (size_t i = 0; i < sizeof gammas / sizeof *gammas; i++) {
		rng_init(&rng, 1, "gaps", 0);
		assert_close(rng_gamma(&rng, gammas[i].shape), gammas[i].first, 1e-14);
		assert_close(rng_gamma(&rng, gammas[i].shape), gammas[i].second, 1e-14);
	}
	rng_init(&rng, 1, "gaps", 0);
	for (int i = 0; i < 1000; i++)
		sum += rng_gamma(&rng, 0.3);
	assert_close(sum, 0x1.411e3a3131adcp+8, 1e-10);
}

/* A digest over many draws of every kind notices any bit that changes. */
static void any_changed_bit_is_noticed(void **state)
{
	uint64_t hash = 0xcbf29ce484222325;
	struct rng rng;

	(void)state;
	rng_init(&rng, 42, "all", 3);
	for (int i = 0; i < 10000; i++) {
		double draws[] = {rng_uniform(&rng), rng_exponential(&rng), rng_normal(&rng), rng_gamma(&rng, 0.3),
		                  rng_gamma(&rng, 9)};
		unsigned char bytes[sizeof draws];
		memcpy(bytes, draws, sizeof draws);
		for (size_t b = 0; b < sizeof bytes; b++)
			hash = (hash ^ bytes[b]) * 0x100000001b3;
	}
	if (hash != 0x16cc6c05656fcb6c)
		fail_msg("%016llx", (unsigned long long)hash);
}

static uint64_t first_of(uint64_t seed, const char *name, uint64_t index)
{
	struct rng rng;

	rng_init(&rng, seed, name, index);
	return rng_next(&rng);
}

/* Every part of (seed, name, index) gives another stream, and the streams are independent. */
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
	/* each correlation is normal with deviation 1/sqrt(n); 300 of them stay below 4.5 deviations but once in 500 seeds
	 */
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

/* Kolmogorov–Smirnov: the greatest distance between the empirical and the wanted distribution, times sqrt(n).
 * Above 1.95 once in 1,000 seeds. */
static void follows(const char *what, uint64_t seed, double (*draw)(struct rng *, double),
                    double (*cdf)(double, double), double parameter)
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
	print_message("# %s(%g): seed %llu, D sqrt(n) = %.3f\n", what, parameter, (unsigned long long)seed,
	              distance * sqrt(DRAWS));
	if (!(distance * sqrt(DRAWS) < 1.95))
		fail_msg("%s(%g) with seed %llu: D sqrt(n) = %g", what, parameter, (unsigned long long)seed,
		         distance * sqrt(DRAWS));
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
	return x > 0 ? -expm1(-x) : 0;
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
	struct rng zero = {{0}}, ones = {{0, 0, 0, UINT64_MAX}}; /* states drawing the smallest and the largest number */

	(void)state;
	assert_close(rng_uniform(&zero), 0, 0);
	assert_close(rng_exponential(&zero), 0, 0);
	assert_false(signbit(rng_exponential(&zero)));
	assert_close(rng_normal(&zero), 0, 0);
	assert_close(rng_uniform(&ones), 1 - 0x1p-53, 0);
}

/* The edges decrease to 0, where the density is 1, and all layers have the same area, the first one with its tail. */
static void check_layers(const double *edges, long double (*density)(long double), long double tail)
{
	long double size = (long double)edges[1] * density(edges[1]) + tail, layer;

	for (size_t i = 0; i < LAYERS; i++) {
		layer = i ? (long double)edges[i] * (density(edges[i + 1]) - density(edges[i]))
		          : (long double)edges[0] * density(edges[1]);
		assert_true(edges[i + 1] < edges[i]);
		if (!(fabsl(layer / size - 1) < 1e-13L))
			fail_msg("layer %zu: %.18Lg, not %.18Lg", i, layer, size);
	}
	assert_close(edges[LAYERS], 0, 0);
}

static long double long_exponential(long double x)
{
	return expl(-x);
}

static long double long_normal(long double x)
{
	return expl(-x * x / 2);
}

static void layers(void **state)
{
	(void)state;
	check_layers(exponential_edges, long_exponential, expl(-exponential_edges[1]));
	check_layers(normal_edges, long_normal, sqrtl(acosl(-1) / 2) * erfcl(normal_edges[1] / sqrtl(2)));
}

enum { MANY = 4000000, CELLS = 1000 };

/* With so many draws, a thousandth of the probability in the wrong place would show, wherever: chi-square over cells
 * that are equally likely, for each sign, and beyond `far`, drawn once in some thousands. */
static void check_many(const char *what, double (*draw)(struct rng *, double), double (*cdf)(double, double),
                       double far)
{
	double counts[CELLS] = {0}, expected = (double)MANY / CELLS, chi = 0, beyond[2] = {0}, share = 1 - cdf(far, 0),
		   distance = 0;
	double *tail = calloc(MANY / 100, sizeof *tail);
	size_t tails = 0;
	struct rng rng;

	assert_non_null(tail);
	rng_init(&rng, 3, what, 0);
	for (int i = 0; i < MANY; i++) {
		double x = draw(&rng, 0);
		counts[(size_t)fmin(CELLS - 1, cdf(x, 0) * CELLS)]++;
		if (fabs(x) > far) {
			beyond[x < 0]++;
			assert_true(tails < MANY / 100);
			tail[tails++] = (1 - cdf(fabs(x), 0)) / share; /* uniform */
		}
	}
	for (int i = 0; i < CELLS; i++)
		chi += (counts[i] - expected) * (counts[i] - expected) / expected;
	qsort(tail, tails, sizeof *tail, by_size);
	for (size_t i = 0; i < tails; i++)
		distance = fmax(distance, fmax(tail[i] - (double)i / (double)tails, (double)(i + 1) / (double)tails - tail[i]));
	free(tail);
	print_message("# %s: chi-square %.1f of %d cells; beyond %g: %.0f and %.0f of %.1f, D sqrt(n) = %.3f\n", what, chi,
	              CELLS, far, beyond[0], beyond[1], share * MANY, distance * sqrt((double)tails));
	assert_true(fabs(chi - (CELLS - 1)) < 4 * sqrt(2 * CELLS));
	assert_true(fabs(beyond[0] - share * MANY) < 4 * sqrt(share * MANY));
	assert_true(fabs(beyond[1] - (cdf(-1, 0) > 0 ? share * MANY : 0)) < 4 * sqrt(share * MANY));
	assert_true(distance * sqrt((double)tails) < 1.95);
}

static void layers_and_tails(void **state)
{
	(void)state;
	check_many("normal", draw_normal, cdf_normal, 3.6);
	check_many("exponential", draw_exponential, cdf_exponential, 7.5);
}

/* The squeeze that saves the logarithms never accepts draws they would reject. */
static void squeeze(void **state)
{
	(void)state;
	for (double shape = 1; shape < 1e6; shape *= 1.1) {
		struct gamma_shape g = gamma_shape_of(shape);
		for (double x = -8; x < 8; x += 0.003) {
			double v = pow(1 + g.c * x, 3);
			if (v > 0 &&
			    1 - g.squeeze * x * x * x * x > exp(0.5 * x * x + g.d - g.d * v + g.d * log(v)) * (1 + 1e-9 * shape))
				fail_msg("shape %g, x %g", shape, x);
		}
	}
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

/* Where two 64-bit numbers lead to some results and one to others: half of all drawn would be divisible by three. */
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

/* In units of the last place. */
static void check_exp(double x)
{
	long double wanted = expl((long double)x), error;
	int exponent;

	frexpl(wanted, &exponent);
	error = ldexpl(fabsl((long double)exact_exp(x) - wanted), 53 - (exponent < -1021 ? -1021 : exponent));
	if (!(error < (exponent < -1021 ? 1 : 0.52L)))
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
		check_exp(u * 709);
		check_exp(-720 + u * 25); /* subnormal, or nearly so */
		check_exp(u);
		check_exp(ldexp(u, -(int)rng_below(&rng, 60)));
	}
	check_exp(709.78271289338397);
	check_exp(-708.39641853226408);
	for (int k = -1074 * 64; k < 1024 * 64; k++) { /* halfway between two powers of the table */
		check_exp((k + 0.5) / 64 * log(2));
		check_exp(nextafter((k + 0.5) / 64 * log(2), k));
	}
	assert_close(exact_exp(0), 1, 0);
	assert_close(exact_power(2, 10), 1024, 1e-12 * 1024);
	assert_close(exact_power(0, 2), 0, 0);
	assert_close(exact_power(-2, 2), 0, 0); /* only positive bases have powers here */
	assert_true(isinf(exact_exp(709.79)) && isinf(exact_exp(1e300)) && isinf(exact_exp(INFINITY)));
	assert_close(exact_exp(-745), 5e-324, 0);
	assert_close(exact_exp(-746), 0, 0);
	assert_close(exact_exp(-INFINITY), 0, 0);
	assert_true(isnan(exact_exp(NAN)));
}

static void test_the_gamma_function(void **state)
{
	(void)state;
	for (double x = 1; x < 100; x += 0.037)
		if (fabs(exact_gamma(x) / tgamma(x) - 1) > 1e-12)
			fail_msg("gamma(%g) is %.17g, not %.17g", x, exact_gamma(x), tgamma(x));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_gamma_function),
		cmocka_unit_test(first_numbers),
		cmocka_unit_test(first_draws),
		cmocka_unit_test(any_changed_bit_is_noticed),
		cmocka_unit_test(streams_are_independent),
		cmocka_unit_test(distributions),
		cmocka_unit_test(uniform_stays_in_range),
		cmocka_unit_test(layers),
		cmocka_unit_test(layers_and_tails),
		cmocka_unit_test(squeeze),
		cmocka_unit_test(below_is_even),
		cmocka_unit_test(below_is_even_for_great_bounds),
		cmocka_unit_test(logarithm),
		cmocka_unit_test(exponential),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
