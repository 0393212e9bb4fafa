#include "stats/samples.h"

#include "stats/rng.h"

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
	double low, high;

	(void)state;
	assert_true(isnan(samples_percentile(&s, 50)));
	assert_true(isnan(samples_mean(&s)));
	assert_true(isnan(samples_std(&s)));
	assert_false(samples_mean_interval(&s, &low, &high));
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
	samples_add(&hundred, -1); /* sorted before: it has to be sorted again */
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
	/* small differences on a great offset, and a sum of which a plain one keeps nothing */
	for (int i = 0; i < 1000000; i++)
		samples_add(&hard, 1e15 + i % 2);
	assert_close(samples_mean(&hard), 1e15 + 0.5, 0);
	assert_close(samples_std(&hard), 0.5, 1e-12);
	samples_release(&hard);
	hard = samples_of((double[]){1e100, 1, -1e100}, 3);
	assert_close(samples_mean(&hard), 1.0 / 3, 1e-16);
	samples_release(&hard);
}

/* Twenty batches of two: means 1 … 20, of which the deviation is sqrt(35); t(0.975, 19) = 2.093 by any table. */
static void interval_by_hand(void **state)
{
	struct samples s = {0};
	double low, high, half = 2.093024054408263 * sqrt(35) / sqrt(20);

	(void)state;
	for (int batch = 1; batch <= 20; batch++) {
		samples_add(&s, batch - 0.25);
		if (batch == 20) {
			assert_int_equal(s.count, 39);
			assert_false(samples_mean_interval(&s, &low, &high));
		}
		samples_add(&s, batch + 0.25);
	}
	assert_true(samples_mean_interval(&s, &low, &high));
	assert_close(low, 10.5 - half, 1e-12);
	assert_close(high, 10.5 + half, 1e-12);
	samples_sort(&s);
	assert_false(samples_mean_interval(&s, &low, &high));
	samples_release(&s);
}

static void constant_samples(void **state)
{
	struct samples s = {0};
	double low, high;

	(void)state;
	for (int i = 0; i < 47; i++)
		samples_add(&s, 3);
	assert_true(samples_mean_interval(&s, &low, &high));
	assert_close(low, 3, 0);
	assert_close(high, 3, 0);
	samples_release(&s);
}

/* The interval holds the true mean about 95 times in 100, even if neighbours are correlated (an autoregressive series).
 * Returns how many of 400 intervals do. */
static int coverage(double r, uint64_t seed)
{
	struct rng rng;
	int covered = 0;

	rng_init(&rng, seed, "coverage", 0);
	for (int run = 0; run < 400; run++) {
		struct samples s = {0};
		double x = rng_normal(&rng) / sqrt(1 - r * r), low, high;
		for (int i = 0; i < 1013; i++) {
			samples_add(&s, 100 + x);
			x = r * x + rng_normal(&rng);
		}
		assert_true(samples_mean_interval(&s, &low, &high));
		covered += low <= 100 && 100 <= high;
		samples_release(&s);
	}
	print_message("# r = %g: seed %llu, %d of 400 intervals hold the mean\n", r, (unsigned long long)seed, covered);
	return covered;
}

static void intervals_cover(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++) {
		assert_in_range(coverage(0, seed), 362, 397); /* 380 ± 4 deviations of 4.4 */
		assert_in_range(coverage(0.8, seed), 350, 395);
	}
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

/* A percentile never decreases with p, lies between two samples, and splits them as it should. */
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing),          cmocka_unit_test(one),
		cmocka_unit_test(percentiles),      cmocka_unit_test(infinities_stay_at_the_end),
		cmocka_unit_test(moments),          cmocka_unit_test(interval_by_hand),
		cmocka_unit_test(constant_samples), cmocka_unit_test(intervals_cover),
		cmocka_unit_test(enough),           cmocka_unit_test(percentile_properties),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
