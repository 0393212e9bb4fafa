/* Autocorrelation, MSER-5, trend and Student's t: cases by hand, and their results for seeded series. */
#include "stats/autocorrelation.h"
#include "stats/mser.h"
#include "stats/rng.h"
#include "stats/student.h"
#include "stats/trend.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define COUNT(list_) (sizeof(list_) / sizeof *(list_))

static void assert_close(double got, double wanted, double most)
{
	if (!(fabs(got - wanted) <= most) && !(got <= wanted && got >= wanted))
		fail_msg("got %.17g, expected %.17g", got, wanted);
}

/* 1 2 3 4: autocovariances 1.25, 0.3125, -0.375, -0.5625; the first pair is 1.5625, the second below 0: 2 × 1.5625 /
 * 1.25 - 1 = 1.5. Thus n_eff = 4 / 1.5, and the error of the mean is sqrt(1.25 / (4 / 1.5 - 1)). */
static void autocorrelation_by_hand(void **state)
{
	const double four[] = {1, 2, 3, 4}, same[] = {3, 3, 3, 3, 3}, turns[] = {1, -1, 1, -1, 1, -1};
	(void)state;
	assert_close(autocorrelation_time(four, 4), 1.5, 1e-15);
	struct mean_estimate e = mean_estimate_of(four, 4);
	assert_close(e.mean, 2.5, 0);
	assert_close(e.n_eff, 4 / 1.5, 1e-15);
	assert_close(e.error, sqrt(0.75), 1e-15);
	assert_close(autocorrelation_time(same, 5), 1, 0);
	e = mean_estimate_of(same, 5);
	assert_close(e.n_eff, 5, 0);
	assert_close(e.error, 0, 0);
	/* autocovariances 1, -5/6, 4/6, -3/6, …: pairs of 1/6 each: 2 × 3/6 - 1 = 0; never more than six samples */
	assert_close(autocorrelation_time(turns, 6), 0, 1e-15);
	assert_close(mean_estimate_of(turns, 6).n_eff, 6, 0);
	assert_true(isnan(mean_estimate_of(NULL, 0).mean));
	assert_close(mean_estimate_of(NULL, 0).n_eff, 0, 0);
	assert_true(isnan(mean_estimate_of(four, 1).error));
}

/* -7 -5 -3 -1 1 3 5 7: the products at the lags 0 to 5 are 168, 105, 46, -5, -44 and -67. */
static void pairs_by_hand(void **state)
{
	const double eight[] = {-7, -5, -3, -1, 1, 3, 5, 7}, ones[] = {1, 1, 1, 1}, two[] = {1, 3};
	(void)state;
	assert_close(autocorrelation_time(eight, 8), 2 * (168 + 105 + 46 - 5) / 168. - 1, 1e-14);
	/* around 0: 1, 2/3 and 1/3, of which the last one has no partner */
	assert_close(autocovariance_sum(ones, 3, 0, 0, 1), 5. / 3, 1e-15);
	assert_close(autocovariance_sum(ones, 4, 0, 0, 1), 2.5, 1e-15);
	const struct mean_estimate e = mean_estimate_of(two, 2);
	assert_close(e.n_eff, 2, 0);
	assert_close(e.error, 1, 0);
}

static void few_of_many_values_need_more_to_be_enough(void **state)
{
	(void)state;
	assert_true(mean_estimate_enough(20, 60));
	assert_false(mean_estimate_enough(19.9, 20));
	assert_false(mean_estimate_enough(20, 61));
	assert_false(mean_estimate_enough(49.9, 200));
	assert_true(mean_estimate_enough(50, 200));
}

/* Batches of two values, v - 3 and v + 3, say as much as their means v. */
static void batches_stand_for_their_values(void **state)
{
	static double means[AUTOCORRELATION_BATCHES], values[2 * AUTOCORRELATION_BATCHES];
	const size_t m = COUNT(means);
	double squares = 0, mean = 0;
	(void)state;
	for (size_t i = 0; i < m; i++)
		mean += (means[i] = (double)(i * i % 11) + (i > m / 2 ? 5 : 0)) / (double)m;
	for (size_t i = 0; i < m; i++) {
		squares += (means[i] - mean) * (means[i] - mean);
		values[2 * i] = means[i] - 3;
		values[2 * i + 1] = means[i] + 3;
	}
	const double of_means = squares / (double)m, time = autocorrelation_time(means, m);
	const struct mean_estimate e = mean_estimate_of(values, 2 * m);
	assert_close(e.mean, mean, 1e-12);
	assert_close(e.n_eff, (of_means + 9) / (of_means / (double)m * time), 1e-9);
	assert_close(e.error, sqrt((of_means + 9) / (e.n_eff - 1)), 1e-12);
}

/* A pair larger than the one before it counts as that one only: -2 5 -2 0 -2 5 -2 0 …, whose autocovariances at the
 * lags 0, 1, 2, 3 … are of period four. */
static void pairs_only_fall(void **state)
{
	double values[400];
	(void)state;
	for (size_t i = 0; i < COUNT(values); i++)
		values[i] = (double[]){1, 1, -1, -1}[i % 4]; /* pairs: 1 + 0, then -1 + 0 */
	assert_close(autocorrelation_time(values, 400), 1, 0.02);
	for (size_t i = 0; i < COUNT(values); i++)
		values[i] = (i % 20 < 10) ? 1 : -1; /* the period must not come back after the pairs fell below 0 */
	double time = autocorrelation_time(values, 400);
	assert_true(time > 3 && time < 6); /* 1 + 2 × (0.8 + 0.6 + 0.4 + 0.2) */
}

static void fill(double *values, size_t count, double r, struct rng *rng)
{
	double x = rng_normal(rng) / sqrt(1 - r * r);
	for (size_t i = 0; i < count; i++) {
		values[i] = x;
		x = r * x + rng_normal(rng);
	}
}

/* For long series the batches stand for the values: the same effective size within the range of chance. */
static void long_series(void **state)
{
	static double values[60000];
	struct rng rng;
	(void)state;
	rng_init(&rng, 5, "long", 0);
	for (int i = 0; i < 3; i++) {
		double r = (double[]){0, 0.7, 0.95}[i], n_eff = 0;
		for (int run = 0; run < 10; run++) {
			fill(values, COUNT(values), r, &rng);
			n_eff += mean_estimate_of(values, COUNT(values)).n_eff / 10;
		}
		print_message("# r = %g: n_eff %.0f, expected %.0f\n", r, n_eff, 60000 * (1 - r) / (1 + r));
		assert_close(n_eff, 60000 * (1 - r) / (1 + r), 6000 * (1 - r) / (1 + r));
	}
}

/* By any table. */
static void student(void **state)
{
	static const double table[][4] = {/* degrees, 97.5 %, 99.5 %, 99.9 % */
	                                  {5, 2.5706, 4.0321, 5.8934},
	                                  {10, 2.2281, 3.1693, 4.1437},
	                                  {19, 2.0930, 2.8609, 3.5794},
	                                  {30, 2.0423, 2.7500, 3.3852},
	                                  {120, 1.9799, 2.6174, 3.1595}};
	(void)state;
	for (size_t i = 0; i < COUNT(table); i++) {
		assert_close(student_quantile(STUDENT_95, table[i][0]), table[i][1], 0.0003);
		assert_close(student_quantile(STUDENT_99, table[i][0]), table[i][2], 0.004);
		assert_close(student_quantile(STUDENT_99_9, table[i][0]), table[i][3], 0.03);
	}
	/* the terms of 1 are 1/2, 1/4, 1/16 and -528/92160, and those of 2 are 5/2, 49/16, 183/64 and 169950/92160 */
	assert_close(student_quantile(1, 4), 1 + (0.5 + (0.25 + (0.0625 - 528 / 92160. / 4) / 4) / 4) / 4, 1e-14);
	assert_close(student_quantile(2, 4), 2 + (2.5 + (3.0625 + (183 / 64. + 169950 / 92160. / 4) / 4) / 4) / 4, 1e-14);
	assert_close(student_quantile(STUDENT_95, 3), 3.1824, 0.006);
	assert_close(student_quantile(STUDENT_99, 3), 5.8409, 0.06);
	assert_close(student_quantile(STUDENT_95, 1e12), STUDENT_95, 1e-9);
	assert_true(isinf(student_quantile(STUDENT_95, 2.9)));
	assert_true(isinf(student_quantile(STUDENT_95, NAN)));
}

/* Batches of five with these means. */
static size_t batches(double *values, const double *means, size_t count)
{
	for (size_t i = 0; i < 5 * count; i++)
		values[i] = means[i / 5] + (double[]){-1, 1, 0, 2, -2}[i % 5];
	return 5 * count;
}

static void mser_by_hand(void **state)
{
	double values[64];
	size_t from = 7;
	(void)state;
	/* MSER(0) = (36 + 3 × 4) / 16 = 3 with mean 4, MSER(1) = 0: five values are the warm-up */
	assert_true(mser5(values, batches(values, (double[]){10, 2, 2, 2}, 4), &from));
	assert_int_equal(from, 5);
	/* MSER(0) = 8/16, MSER(1) = (2 × 1/9 + 4/9)/9 = 0.074, MSER(2) = 0.5/4 = 0.125 */
	assert_true(mser5(values, batches(values, (double[]){4, 1, 2, 1}, 4), &from));
	assert_int_equal(from, 5);
	/* MSER(2) = 0 is the least, at half of the series; MSER(3) = 0 is not looked at */
	assert_true(mser5(values, batches(values, (double[]){10, 6, 2, 2}, 4), &from));
	assert_int_equal(from, 10);
	/* the smallest of equal ones: no warm-up at all; values after the last whole batch do not count */
	size_t count = batches(values, (double[]){3, 3, 3, 3}, 4);
	values[count] = values[count + 1] = values[count + 2] = values[count + 3] = 1e9;
	assert_true(mser5(values, count + 4, &from));
	assert_int_equal(from, 0);
	assert_false(mser5(values, 19, &from));
	/* neither a common part nor a factor counts */
	assert_true(mser5(values, batches(values, (double[]){1004, 1001, 1002, 1001}, 4), &from));
	assert_int_equal(from, 5);
	count = batches(values, (double[]){4, 1, 2, 1}, 4);
	for (size_t i = 0; i < count; i++)
		values[i] /= 64;
	assert_true(mser5(values, count, &from));
	assert_int_equal(from, 5);
	/* a late step is no warm-up: beyond half of the series nothing is truncated */
	assert_true(mser5(values, batches(values, (double[]){1, 1, 1, 1, 1, 9}, 6), &from));
	assert_int_equal(from, 0);
}

/* A warm-up that decays, and noise: the truncation is near where it has decayed into the noise. */
static void mser_finds_warmups(void **state)
{
	struct rng rng;
	double values[200];
	int near = 0, early = 0;
	(void)state;
	rng_init(&rng, 9, "mser", 0);
	for (int run = 0; run < 200; run++) {
		size_t from;
		for (size_t i = 0; i < COUNT(values); i++)
			values[i] = 100 + rng_normal(&rng) + (i < 40 ? 2.5 * (double)(40 - i) : 0);
		assert_true(mser5(values, COUNT(values), &from));
		near += from >= 35 && from <= 45;
		early += from < 35;
	}
	print_message("# seed 9: %d of 200 truncations between 35 and 45\n", near);
	assert_in_range(near, 150, 200);
	assert_int_equal(early, 0);
}

/* 1 0 1 0 1: slope 0; the residuals are the distances from 0.6, whose squares add up to 1.2; they alternate, so five
 * values count as five: three degrees of freedom. The times spread 10: sqrt(1.2 / 3 / 10) = 0.2. */
static void trend_by_hand(void **state)
{
	const double line[] = {1, 3, 5, 7, 9}, turns[] = {1, 0, 1, 0, 1}, bent[] = {0, 0, 3, 0, 2};
	(void)state;
	struct trend t = trend_of(line, 5);
	assert_close(t.slope, 2, 0);
	assert_close(t.error, 0, 0);
	t = trend_of(turns, 5);
	assert_close(t.slope, 0, 1e-16);
	assert_close(t.degrees, 3, 1e-14);
	assert_close(t.error, 0.2, 1e-14);
	/* (-2)(0) + (-1)(0) + 0 + 1(0) + 2(2), of deviations from the mean 1: (2 + 1 + 0 - 1 + 2) / 10 */
	assert_close(trend_of(bent, 5).slope, 0.4, 1e-15);
	t = trend_of(line, 4);
	assert_true(isnan(t.slope) && isnan(t.error));
	assert_close(t.degrees, 0, 0);
}

/* How often is a slope of 0 outside its 95 % interval? Correlated neighbours must not make trends of chance. */
static void trend_of_noise(void **state)
{
	double values[300];
	struct rng rng;
	(void)state;
	rng_init(&rng, 3, "trend", 0);
	for (int i = 0; i < 3; i++) {
		double r = (double[]){0, 0.5, 0.8}[i];
		int inside = 0;
		for (int run = 0; run < 1000; run++) {
			fill(values, COUNT(values), r, &rng);
			struct trend t = trend_of(values, COUNT(values));
			inside += fabs(t.slope) <= t.error * student_quantile(STUDENT_95, t.degrees);
		}
		print_message("# seed 3, r = %g: %d of 1000 intervals hold the slope 0\n", r, inside);
		assert_in_range(inside, 890, 980);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(autocorrelation_by_hand),
		cmocka_unit_test(pairs_by_hand),
		cmocka_unit_test(few_of_many_values_need_more_to_be_enough),
		cmocka_unit_test(batches_stand_for_their_values),
		cmocka_unit_test(pairs_only_fall),
		cmocka_unit_test(long_series),
		cmocka_unit_test(student),
		cmocka_unit_test(mser_by_hand),
		cmocka_unit_test(mser_finds_warmups),
		cmocka_unit_test(trend_by_hand),
		cmocka_unit_test(trend_of_noise),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
