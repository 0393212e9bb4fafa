#include "stats/samples.h"

#include "stats/rng.h"
#include "stats/sort_numbers.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_close(double got, double wanted, double most)
{
	if (!(fabs(got - wanted) <= most) && !(got <= wanted && got >= wanted))
		fail_msg("got %.17g, expected %.17g", got, wanted);
}

static struct samples samples_of(const double *values, size_t count)
{
	struct samples s = {0};

	for (size_t i = 0; i < count; i++)
		samples_add(&s, values[i]);
	assert_false(s.failed);
	assert_int_equal(s.count, count);
	return s;
}

static void nothing(void **state)
{
	struct samples s = {0};

	(void)state;
	assert_true(isnan(samples_percentile(&s, 50)));
	assert_true(isnan(samples_mean(&s)));
	assert_true(isnan(samples_std(&s)));
	assert_true(isnan(samples_mean_interval(&s).n_eff));
	samples_add(&s, NAN);
	assert_int_equal(s.count, 0);
	samples_release(&s);
	samples_release(&s);
}

static void one(void **state)
{
	struct samples s = samples_of((double[]){7.5}, 1);

	(void)state;
	for (double p = 0; p <= 100; p += 12.5)
		assert_close(samples_percentile(&s, p), 7.5, 0);
	assert_close(samples_mean(&s), 7.5, 0);
	assert_close(samples_std(&s), 0, 0);
	samples_release(&s);
}

/* By hand: rank = p/100 × (n - 1), and the line between the two neighbours. The worked example of NumPy's documentation
 * is among them: percentile([10, 7, 4, 3, 2, 1], 50) = 3.5. */
static void percentiles(void **state)
{
	struct samples five = samples_of((double[]){50, 15, 40, 20, 35}, 5);
	struct samples six = samples_of((double[]){10, 7, 4, 3, 2, 1}, 6);
	struct samples hundred = {0};

	(void)state;
	assert_close(samples_percentile(&five, 0), 15, 0);
	assert_close(samples_percentile(&five, 25), 20, 0);
	assert_close(samples_percentile(&five, 40), 29, 1e-14);
	assert_close(samples_percentile(&five, 50), 35, 0);
	assert_close(samples_percentile(&five, 99), 49.6, 1e-13);
	assert_close(samples_percentile(&five, 100), 50, 0);
	assert_close(samples_percentile(&five, -3), 15, 0);
	assert_close(samples_percentile(&five, 103), 50, 0);
	assert_true(isnan(samples_percentile(&five, NAN)));
	assert_close(samples_percentile(&six, 50), 3.5, 0);
	assert_close(samples_percentile(&six, 75), 6.25, 0);
	for (int i = 100; i >= 1; i--)
		samples_add(&hundred, i);
	assert_close(samples_percentile(&hundred, 99), 99.01, 1e-13);
	assert_close(samples_percentile(&hundred, 99.9), 99.901, 1e-13);
	assert_close(samples_percentile(&hundred, 1), 1.99, 1e-14);
	samples_add(&hundred, -1); /* sorted already: must be sorted again */
	assert_close(samples_percentile(&hundred, 0), -1, 0);
	samples_release(&five);
	samples_release(&six);
	samples_release(&hundred);
}

static void infinities_stay_at_the_end(void **state)
{
	struct samples s = samples_of((double[]){1, INFINITY, 2, INFINITY}, 4);

	(void)state;
	assert_close(samples_percentile(&s, 100.0 / 3), 2, 1e-12);
	assert_true(isinf(samples_percentile(&s, 50)));
	assert_true(isinf(samples_percentile(&s, 90)));
	assert_true(isinf(samples_percentile(&s, 100)));
	assert_true(isinf(samples_mean(&s)));
	samples_release(&s);
}

static void moments(void **state)
{
	struct samples s = samples_of((double[]){2, 4, 4, 4, 5, 5, 7, 9}, 8); /* mean 5, variance 4 */
	struct samples hard = {0};

	(void)state;
	assert_close(samples_mean(&s), 5, 0);
	assert_close(samples_std(&s), 2, 1e-15);
	samples_release(&s);
	/* small differences on a large offset, and a sum that plain addition loses */
	for (int i = 0; i < 1000000; i++)
		samples_add(&hard, 1e15 + i % 2);
	assert_close(samples_mean(&hard), 1e15 + 0.5, 0);
	assert_close(samples_std(&hard), 0.5, 1e-12);
	samples_release(&hard);
	hard = samples_of((double[]){1e100, 1, -1e100}, 3);
	assert_close(samples_mean(&hard), 1.0 / 3, 1e-16);
	samples_release(&hard);
}

/* 1, -1, -1, 1 and again: the autocovariances of the lags 0 … are 1, -1/40, -38/40 and so on, so only the first pair
 * counts: 2 × 39/40 - 1 = 0.95, below 1, and 40 samples tell at most as much as 40. From 39, nothing is said. The
 * deviation of 40 is 1, and t(0.975, 39) = 2.0227 by any table. */
static void interval_by_hand(void **state)
{
	struct samples s = {0};

	(void)state;
	for (int i = 0; i < 40; i++) {
		assert_true(isnan(samples_mean_interval(&s).low));
		samples_add(&s, 7 + ((i + 1) / 2 % 2 ? -1 : 1));
	}
	struct mean_interval interval = samples_mean_interval(&s);
	assert_close(interval.n_eff, 40, 0);
	assert_close(interval.low, 7 * exp(-2.0227 / sqrt(39) / 7), 1e-5);
	assert_close(interval.high, 7 * exp(2.0227 / sqrt(39) / 7), 1e-5);
	samples_sort(&s);
	assert_true(isnan(samples_mean_interval(&s).n_eff));
	assert_true(isnan(samples_mean_interval(&s).high));
	samples_release(&s);
}

/* A figure that can be negative has the usual interval: here 0 ± 2.0227 / √39. */
static void interval_of_signed_samples(void **state)
{
	struct samples s = {0};

	(void)state;
	for (int i = 0; i < 40; i++)
		samples_add(&s, (i + 1) / 2 % 2 ? -1 : 1);
	struct mean_interval interval = samples_mean_interval(&s);
	assert_close(interval.low, -2.0227 / sqrt(39), 1e-5);
	assert_close(interval.high, 2.0227 / sqrt(39), 1e-5);
	/* around a positive mean as well */
	for (int i = 0; i < 40; i++)
		s.values[i] += 0.5;
	interval = samples_mean_interval(&s);
	assert_close(interval.low, 0.5 - 2.0227 / sqrt(39), 1e-5);
	assert_close(interval.high, 0.5 + 2.0227 / sqrt(39), 1e-5);
	samples_release(&s);
}

/* One of many is all there is: the mean can be small, but not negative. */
static void interval_of_a_burst(void **state)
{
	struct samples s = {0};

	(void)state;
	for (int i = 0; i < 100; i++)
		samples_add(&s, i < 3 ? 1000 : 0);
	struct mean_interval interval = samples_mean_interval(&s);
	assert_true(interval.low > 0 && interval.low < 30 && interval.high > 30 && interval.high < 3000);
	samples_clear(&s);
	for (int i = 0; i < 100; i++)
		samples_add(&s, 0);
	interval = samples_mean_interval(&s);
	assert_close(interval.low, 0, 0);
	assert_close(interval.high, 0, 0);
	samples_release(&s);
}

static void constant_samples(void **state)
{
	struct samples s = {0};

	(void)state;
	for (int i = 0; i < 47; i++)
		samples_add(&s, 3);
	struct mean_interval interval = samples_mean_interval(&s);
	assert_close(interval.n_eff, 47, 0);
	assert_close(interval.low, 3, 0);
	assert_close(interval.high, 3, 0);
	samples_release(&s);
}

/* A series that only rises has hardly more than one independent sample: no interval. */
static void no_interval_of_a_ramp(void **state)
{
	struct samples s = {0};

	(void)state;
	for (int i = 0; i < 200; i++)
		samples_add(&s, i);
	struct mean_interval interval = samples_mean_interval(&s);
	assert_true(interval.n_eff >= 1 && interval.n_eff < 4);
	assert_true(isnan(interval.low) && isnan(interval.high));
	samples_release(&s);
}

static void infinite_samples_have_no_interval(void **state)
{
	struct samples s = {0};

	(void)state;
	for (int i = 0; i < 50; i++)
		samples_add(&s, i == 20 ? (double)INFINITY : (double)(i % 7));
	assert_true(isnan(samples_mean_interval(&s).n_eff));
	assert_true(isnan(samples_mean_interval(&s).low));
	samples_release(&s);
}

/* How many of 1000 intervals of autoregressive series (x' = r x + noise) hold the true mean. */
static int coverage(double r, int count, uint64_t seed)
{
	struct rng rng;
	int covered = 0;
	double n_eff = 0;

	rng_init(&rng, seed, "coverage", (uint64_t)count);
	for (int run = 0; run < 1000; run++) {
		struct samples s = {0};
		double x = rng_normal(&rng) / sqrt(1 - r * r);
		for (int i = 0; i < count; i++) {
			samples_add(&s, 100 + x);
			x = r * x + rng_normal(&rng);
		}
		struct mean_interval interval = samples_mean_interval(&s);
		covered += interval.low <= 100 && 100 <= interval.high;
		n_eff += interval.n_eff / 1000;
		samples_release(&s);
	}
	print_message("# r = %g, n = %d: seed %llu, %d of 1000 intervals hold the mean, mean n_eff %.1f\n", r, count,
	              (unsigned long long)seed, covered, n_eff);
	/* the effective size of such a series is n (1 - r) / (1 + r) */
	assert_close(n_eff, count * (1 - r) / (1 + r), 0.12 * count * (1 - r) / (1 + r));
	return covered;
}

/* 95 % intervals hold the true mean in 93 to 97 % of the cases, also if neighbours are correlated; by chance the share
 * of 1000 varies by ±1.4 % (two deviations), but the seeds are fixed. */
static void intervals_cover(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		for (int i = 0; i < 4; i++)
			assert_in_range(coverage((double[]){0, 0.3, 0.5, 0.8}[i], 1000, seed), 930, 970);
		assert_in_range(coverage(0.9, 5000, seed), 930, 970);
	}
}

/* The same for skewed series, e to the power of one that is normal with deviation 1, whose mean is √e. */
static int skewed_coverage(double r, int count)
{
	struct rng rng;
	int covered = 0;

	rng_init(&rng, 1, "skewed", (uint64_t)count);
	for (int run = 0; run < 1000; run++) {
		struct samples s = {0};
		double x = rng_normal(&rng);
		for (int i = 0; i < count; i++) {
			samples_add(&s, exp(x));
			x = r * x + sqrt(1 - r * r) * rng_normal(&rng);
		}
		struct mean_interval interval = samples_mean_interval(&s);
		assert_true(interval.low > 0);
		covered += interval.low <= exp(0.5) && exp(0.5) <= interval.high;
		samples_release(&s);
	}
	print_message("# skewed, r = %g, n = %d: %d of 1000 intervals hold the mean\n", r, count, covered);
	return covered;
}

static void skewed_intervals_cover(void **state)
{
	(void)state;
	assert_in_range(skewed_coverage(0, 200), 920, 980);
	assert_in_range(skewed_coverage(0.5, 500), 920, 980);
	assert_in_range(skewed_coverage(0.8, 2000), 920, 980);
}

static void enough(void **state)
{
	(void)state;
	assert_int_equal(samples_needed(90), 44);
	assert_int_equal(samples_needed(99), 459);
	assert_int_equal(samples_needed(99.9), 4603);
	assert_int_equal(samples_needed(50), 7);
	assert_int_equal(samples_needed(10), 44);
	assert_int_equal(samples_needed(1), 459);
	assert_int_equal(samples_needed(95), 90);
	assert_true(samples_needed(100) == SIZE_MAX);
	assert_true(samples_needed(0) == SIZE_MAX);
	assert_true(samples_needed(NAN) == SIZE_MAX);
}

/* A percentile never decreases with p, lies between two samples, and splits them in the right proportion. */
static void percentile_properties(void **state)
{
	uint64_t seed = 11;
	struct rng rng;

	(void)state;
	print_message("# percentile_properties: seed %llu\n", (unsigned long long)seed);
	rng_init(&rng, seed, "percentiles", 0);
	for (int run = 0; run < 300; run++) {
		struct samples s = {0};
		size_t count = 1 + rng_below(&rng, 200), below;
		double last = -INFINITY;
		for (size_t i = 0; i < count; i++)
			samples_add(&s, floor(rng_exponential(&rng) * 20) / 7);
		for (double p = 0; p <= 100; p += 0.5) {
			double value = samples_percentile(&s, p);
			assert_true(value >= last);
			last = value;
			for (below = 0; below < count && s.values[below] < value; below++)
				;
			assert_true((double)below <= p / 100 * (double)(count - 1) + 1);
		}
		samples_release(&s);
	}
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* As qsort does: few and many, with the same values, of either sign, far apart, infinite. */
static void sorts_any_numbers(void **state)
{
	(void)state;
	static const size_t counts[] = {0, 1, 2, 499, 500, 501, 5000, 100000};
	struct rng rng;
	rng_init(&rng, 3, "sorts_any_numbers", 0);
	for (size_t i = 0; i < 6 * sizeof counts / sizeof *counts; i++) {
		size_t count = counts[i / 6];
		/* no longer than needed, so a sanitizer sees who goes beyond */
		double *values = malloc(count * sizeof *values + !count), *expected = malloc(count * sizeof *expected + !count);
		assert_non_null(values);
		assert_non_null(expected);
		for (size_t k = 0; k < count; k++) {
			double x = (double)rng_below(&rng, 1 << 30);
			const double kinds[] = {
				x, -x, x / 7, x * 1e290 - 5e298, 42, x < 1e8 ? INFINITY : x < 2e8 ? -INFINITY : 1 / x};
			expected[k] = values[k] = kinds[i % 6] + 0.0;
		}
		sort_doubles(values, count);
		qsort(expected, count, sizeof *expected, by_size);
		assert_memory_equal(values, expected, count * sizeof *values);
		free(values);
		free(expected);
	}
	double zeros[600];
	for (size_t k = 0; k < 600; k++)
		zeros[k] = k % 2 ? -0.0 : 0.0;
	sort_doubles(zeros, 600);
	assert_true(signbit(zeros[299]) && !signbit(zeros[300]));
}

static int by_integer(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static void sorts_integers(void **state)
{
	(void)state;
	struct rng rng;
	rng_init(&rng, 3, "sorts_integers", 0);
	for (size_t count = 0; count < 3000; count = 2 * count + 1) {
		int64_t *values = malloc(count * sizeof *values + !count),
				*expected = malloc(count * sizeof *expected + !count);
		assert_non_null(values);
		assert_non_null(expected);
		for (size_t k = 0; k < count; k++)
			expected[k] = values[k] = k % 7 ? (int64_t)rng_below(&rng, UINT64_C(1) << 45) - (INT64_C(1) << 44)
			                                : INT64_MIN;
		sort_integers(values, count);
		qsort(expected, count, sizeof *expected, by_integer);
		assert_memory_equal(values, expected, count * sizeof *values);
		sort_integers(values, count); /* in order */
		assert_memory_equal(values, expected, count * sizeof *values);
		free(values);
		free(expected);
	}
}

/* A partition gives every rank the value that sorting gives it: values close together, far apart, equal, infinite. */
static void partitions_as_it_sorts(void **state)
{
	(void)state;
	struct rng rng;
	rng_init(&rng, 3, "partitions_as_it_sorts", 0);
	struct samples s = {0}, sorted = {0};
	for (int kind = 0; kind < 6; kind++) {
		samples_clear(&s);
		samples_clear(&sorted);
		for (int i = 0; i < (kind == 5 ? 100 : 70000 + kind); i++) {
			double x = (double)rng_below(&rng, 1 << 30);
			const double kinds[] = {x, x - 5e8, 42, x < 1e8 ? INFINITY : x < 2e8 ? -INFINITY : 1 / x, 1e15 + x, x};
			samples_add(&s, kinds[kind]);
			samples_add(&sorted, kinds[kind]);
		}
		samples_sort(&sorted);
		samples_partition(&s);
		if (kind != 5) /* few samples keep the order of arrival */
			assert_true(isnan(samples_mean_interval(&s).low));
		for (double p = 0; p <= 100; p += 7.3)
			assert_close(samples_percentile(&s, p), samples_percentile(&sorted, p), 0);
		for (size_t rank = 0; rank < s.count; rank += 97)
			assert_close(samples_at_rank(&s, rank), sorted.values[rank], 0);
		samples_add(&s, 7); /* begins anew */
		samples_add(&sorted, 7);
		assert_close(samples_percentile(&s, 33), samples_percentile(&sorted, 33), 0);
		samples_sort(&s);
		assert_memory_equal(s.values, sorted.values, s.count * sizeof *s.values);
	}
	samples_release(&s);
	samples_release(&sorted);
}

static void takes_what_is_written_into_it(void **state)
{
	(void)state;
	struct samples s = {0};
	samples_add(&s, 9);
	double *to = samples_reserve(&s, 2);
	assert_non_null(to);
	to[0] = 3;
	to[1] = 1;
	s.count += 2;
	assert_close(samples_percentile(&s, 50), 3, 0);
	to = samples_reserve(&s, 100000); /* more than there was room for */
	assert_non_null(to);
	assert_false(s.failed);
	assert_close(to[-1], 9, 0);
	to[99999] = 4;
	assert_null(samples_reserve(&s, SIZE_MAX / 2));
	assert_true(s.failed);
	samples_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sorts_any_numbers),
		cmocka_unit_test(sorts_integers),
		cmocka_unit_test(partitions_as_it_sorts),
		cmocka_unit_test(takes_what_is_written_into_it),
		cmocka_unit_test(nothing),
		cmocka_unit_test(one),
		cmocka_unit_test(percentiles),
		cmocka_unit_test(infinities_stay_at_the_end),
		cmocka_unit_test(moments),
		cmocka_unit_test(interval_by_hand),
		cmocka_unit_test(interval_of_signed_samples),
		cmocka_unit_test(interval_of_a_burst),
		cmocka_unit_test(constant_samples),
		cmocka_unit_test(no_interval_of_a_ramp),
		cmocka_unit_test(infinite_samples_have_no_interval),
		cmocka_unit_test(intervals_cover),
		cmocka_unit_test(skewed_intervals_cover),
		cmocka_unit_test(enough),
		cmocka_unit_test(percentile_properties),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
