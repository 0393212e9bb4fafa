/* Distributions of values with weights, and of rates and levels over time: small ones by hand, large ones by their
 * invariants. */
#include "unit.h"

#include "exports/pulses.h"

#include <math.h>

static void weights_count(void **state)
{
	(void)state;
	struct weighted_values v = {0};
	struct weighted_summary s;
	weighted_values_summarise(&v, &s);
	assert_float_equal((s.mean + s.max + s.percentile[WEIGHTED_P50]), 0, 0);
	weighted_values_add(&v, 4, 1);
	weighted_values_add(&v, 2, 2);
	weighted_values_add(&v, 2, 3);
	weighted_values_add(&v, 10, 4);
	weighted_values_add(&v, NAN, 9);
	weighted_values_add(&v, 99, 0);
	weighted_values_summarise(&v, &s);
	assert_float_equal(s.mean, 5.4, 1e-9);
	assert_float_equal(s.mode, 2, 0);
	assert_float_equal(s.variance, 14.44, 1e-5);
	assert_float_equal(s.min, 2, 0);
	assert_float_equal(s.max, 10, 0);
	assert_float_equal(s.percentile[WEIGHTED_P50], 2, 0); /* half of the weight is at 2 or below */
	assert_float_equal(s.percentile[6], 10, 0);           /* 75 */
	assert_float_equal(v.weight, 10, 0);
	weighted_values_release(&v);
}

/* More values than are kept: joined, but every statistic stays within 0.1 %. */
static void many(void **state)
{
	(void)state;
	struct weighted_values v = {0};
	struct weighted_summary s;
	for (int i = 1; i <= 9000000; i++)
		weighted_values_add(&v, i, 1);
	assert_true(v.cap <= (size_t)4 << 20);
	weighted_values_summarise(&v, &s);
	assert_float_equal(s.mean, 4500000.5, 0.1);
	assert_float_equal(v.weight, 9e6, 0);
	for (int i = 0; i < WEIGHTED_PERCENTILES; i++)
		assert_true(fabs(s.percentile[i] / (9e6 * weighted_percentiles[i] / 100) - 1) < 1e-3);
	weighted_values_release(&v);
}

/* Two requests end 1 s apart, 1 s after the beginning and 2 s before the end. */
static void rates(void **state)
{
	(void)state;
	struct pulses p = {0};
	struct weighted_values v = {0};
	struct weighted_summary s;
	const double at_s[] = {4, 0, 1, 2};
	for (int i = 0; i < 4; i++)
		pulses_add(
			&p, (struct pulse_train){.first_ns = at_s[i] * 1e9, .last_ns = at_s[i] * 1e9, .count = 1, .first = i > 1});
	assert_int_equal(pulses_rates(&p, &v), 4);
	weighted_values_summarise(&v, &s);
	assert_float_equal(s.mean, 0.5, 1e-12); /* 2 in 4 s */
	assert_float_equal(s.max, 1, 1e-12);    /* 1 in 0.5 s … 1.5 s */
	assert_float_equal(s.min, 0, 0);
	assert_float_equal(v.weight, 4, 1e-12);
	weighted_values_release(&v);
	pulses_release(&p);
}

/* A train is as many pulses; they are taken in order, and those within 0.1 ms are one. */
static void trains(void **state)
{
	(void)state;
	struct pulses p = {0};
	struct weighted_values v = {0};
	struct weighted_summary s;
	pulses_add(&p, (struct pulse_train){.first_ns = 0, .last_ns = 10e9, .count = 11, .first = 1, .others = 3});
	pulses_add(&p,
	           (struct pulse_train){.first_ns = 50000, .last_ns = 10e9 + 50000, .count = 11, .first = 1, .others = 3});
	assert_int_equal(pulses_rates(&p, &v), 11);
	weighted_values_summarise(&v, &s);
	assert_float_equal(s.mean, 6.2, 1e-9); /* 62 in 10 s */
	assert_float_equal(s.percentile[WEIGHTED_P50], 6, 1e-9);
	assert_float_equal(s.min, 4, 1e-9);  /* 2 in the first 0.5 s */
	assert_float_equal(s.max, 12, 1e-9); /* 6 in the last 0.5 s */
	weighted_values_release(&v);
	assert_int_equal(pulses_rates(&p, &v), 0); /* they were taken out */
	pulses_release(&p);
}

static void levels(void **state)
{
	(void)state;
	struct pulses p = {0};
	struct weighted_values v = {0};
	struct weighted_summary s;
	const double from_to_s[][2] = {{0, 3}, {1, 2}, {5, 6}};
	for (int i = 0; i < 3; i++)
		for (int k = 0; k < 2; k++)
			pulses_add(&p, (struct pulse_train){.first_ns = from_to_s[i][k] * 1e9,
			                                    .last_ns = from_to_s[i][k] * 1e9,
			                                    .count = 1,
			                                    .first = k ? -1 : 1});
	pulses_levels(&p, &v);
	weighted_values_summarise(&v, &s);
	assert_float_equal(v.weight, 6, 1e-12); /* 2 s of it at level 0 */
	assert_true(fabs(s.mean - 5.0 / 6) < 1e-12);
	assert_float_equal(s.min, 0, 0);
	assert_float_equal(s.max, 2, 0);
	weighted_values_release(&v);
	pulses_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(weights_count), cmocka_unit_test(many),   cmocka_unit_test(rates),
		cmocka_unit_test(trains),        cmocka_unit_test(levels),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
