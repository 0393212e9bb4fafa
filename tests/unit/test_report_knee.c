/* The knee of a throughput curve: hand-made curves whose capacity is obvious, and its interval. */
#include "unit.h"

#include "analysis/knee.h"

#include <math.h>

/* Points of 10 s each; `noise`: completions and arrivals vary by as much from part to part. */
static size_t make(struct knee_point *points, const double rates[][2], size_t count, double noise, uint64_t *random)
{
	for (size_t i = 0; i < count; i++) {
		points[i] = (struct knee_point){.seconds = 10};
		for (int b = 0; b < KNEE_BATCHES; b++) {
			double factor = noise > 0 ? 1 + noise * ((double)(test_random(random) % 2001) / 1000 - 1) : 1;
			double other = noise > 0 ? 1 + noise * ((double)(test_random(random) % 2001) / 1000 - 1) : 1;
			points[i].offered[b] = rates[i][0] * 10 / KNEE_BATCHES * factor;
			points[i].completed[b] = rates[i][1] < rates[i][0] ? rates[i][1] * 10 / KNEE_BATCHES * other
			                                                   : points[i].offered[b];
		}
	}
	return count;
}

static struct knee fitted(const double rates[][2], size_t count)
{
	struct knee_point points[16];
	struct knee knee;
	knee_fit(points, make(points, rates, count, 0, NULL), &knee);
	return knee;
}

static void a_plateau(void **state)
{
	(void)state;
	static const double rates[][2] = {{130, 100}, {20, 20}, {60, 60}, {40, 40}, {110, 100}, {80, 80}};
	struct knee knee = fitted(rates, 6);
	assert_float_equal(knee.rate, 100, 1e-9);
	assert_float_equal(knee.slope, 0, 0);
	assert_int_equal(knee.below, 4);
	assert_int_equal(knee.above, 2);
	assert_float_equal(knee.misfit, 0, 1e-9);
}

static void no_plateau(void **state)
{
	(void)state;
	static const double rates[][2] = {{20, 20}, {40, 40}, {80, 80}};
	struct knee knee = fitted(rates, 3);
	assert_float_equal(knee.rate, 80, 1e-9);
	assert_int_equal(knee.above, 0);
}

static void two_points(void **state)
{
	(void)state;
	static const double rates[][2] = {{20, 20}, {200, 100}}, only[][2] = {{200, 100}};
	assert_float_equal(fitted(rates, 2).rate, 100, 1e-9);
	assert_float_equal(fitted(only, 1).rate, 100, 1e-9);
	assert_int_equal(fitted(only, 1).below, 0);
}

static void every_rate_above(void **state)
{
	(void)state;
	static const double rates[][2] = {{150, 100}, {200, 100}, {300, 100}};
	struct knee knee = fitted(rates, 3);
	assert_float_equal(knee.rate, 100, 1e-9);
	assert_int_equal(knee.below, 0);
}

/* The throughput falls beyond the capacity: the plateau would be 85. */
static void retrograde(void **state)
{
	(void)state;
	static const double rates[][2] = {{40, 40}, {80, 80}, {120, 90}, {140, 80}, {160, 70}};
	struct knee knee = fitted(rates, 5);
	assert_float_equal(knee.rate, 100, 1e-6);
	assert_float_equal(knee.slope, -0.5, 1e-6);
	static const double few[][2] = {{40, 40}, {80, 80}, {140, 80}, {160, 70}};
	assert_float_equal(fitted(few, 4).slope, 0, 0); /* two points are no line */
}

static void a_misfit(void **state)
{
	(void)state;
	static const double rates[][2] = {{20, 14}, {40, 28}, {80, 56}, {160, 112}};
	assert_true(fitted(rates, 4).misfit > 0.1); /* a third of all requests failed */
}

/* The interval contains the capacity in nearly all of 60 noisy curves, and is narrower with less noise. */
static void noisy(void **state)
{
	(void)state;
	static const double rates[][2] = {{20, 20}, {60, 60}, {90, 90}, {110, 100}, {130, 100}, {150, 100}};
	uint64_t random = test_seed("noisy");
	int held = 0;
	double widths[2] = {0};
	for (int round = 0; round < 60; round++)
		for (int k = 0; k < 2; k++) {
			struct knee_point points[6];
			struct ipf_error err = {0};
			struct knee knee;
			double low, high;
			make(points, rates, 6, k ? 0.3 : 0.03, &random);
			knee_fit(points, 6, &knee);
			assert_int_equal(knee_interval(points, 6, &low, &high, &err), 0);
			assert_true(low <= high && low > 0);
			widths[k] += high - low;
			held += k && low <= 100 && 100 <= high;
			assert_true(fabs(knee.rate - 100) < (k ? 20 : 3));
		}
	assert_true(held >= 50);
	assert_true(widths[0] * 3 < widths[1]);
}

static void equal_points_give_equal_intervals(void **state)
{
	(void)state;
	static const double rates[][2] = {{20, 20}, {60, 60}, {110, 100}, {130, 100}};
	uint64_t random = 7;
	struct knee_point points[4];
	struct ipf_error err = {0};
	double low, high, low_again, high_again;
	make(points, rates, 4, 0.2, &random);
	assert_int_equal(knee_interval(points, 4, &low, &high, &err), 0);
	assert_int_equal(knee_interval(points, 4, &low_again, &high_again, &err), 0);
	assert_float_equal(low, low_again, 0);
	assert_float_equal(high, high_again, 0);
}

/* Parts without a single arrival, and points where nothing was completed. */
static void empty_parts(void **state)
{
	(void)state;
	struct knee_point points[3] = {{.seconds = 1, .offered = {1}, .completed = {1}},
	                               {.seconds = 1, .offered = {0, 2}, .completed = {0}},
	                               {.seconds = 1, .offered = {5}, .completed = {0}}};
	struct knee knee;
	struct ipf_error err = {0};
	double low, high;
	knee_fit(points, 3, &knee);
	assert_int_equal(knee_interval(points, 3, &low, &high, &err), 0);
	assert_true(isfinite(knee.rate) && isfinite(low) && isfinite(high) && isfinite(knee.misfit));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_plateau),   cmocka_unit_test(no_plateau),
		cmocka_unit_test(two_points),  cmocka_unit_test(every_rate_above),
		cmocka_unit_test(retrograde),  cmocka_unit_test(a_misfit),
		cmocka_unit_test(noisy),       cmocka_unit_test(equal_points_give_equal_intervals),
		cmocka_unit_test(empty_parts),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
