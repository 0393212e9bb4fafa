#include "unit.h"

#include "kinds/ratio.h"

#include <math.h>

static void assert_parses(const char *text, uint64_t num, uint64_t den)
{
	struct ratio r = {0};

	assert_true(ratio_parse(text, &r));
	assert_int_equal(r.num, num);
	assert_int_equal(r.den, den);
}

static void test_decimals_are_read_exactly(void **state)
{
	(void)state;
	assert_parses("2", 2, 1);
	assert_parses("0.5", 5, 10);
	assert_parses("1.25", 125, 100);
	assert_parses("999999999.999999999", 999999999999999999, 1000000000);
	assert_parses("0.000000001", 1, 1000000000);
}

static void test_a_text_that_is_no_decimal_is_refused(void **state)
{
	static const char *const bad[] = {"",    "0",  "0.0",   "-1",  "+1",  " 1",  "1 ",         "1.",          ".5",
	                                  "1e3", "2x", "1.2.3", "1,5", "nan", "inf", "1234567890", "0.1234567890"};
	struct ratio r = {0};

	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (ratio_parse(bad[i], &r))
			fail_msg("\"%s\" was read as %llu/%llu", bad[i], (unsigned long long)r.num, (unsigned long long)r.den);
	assert_int_equal(r.num, 0);
}

static void test_fractions_of_doubles(void **state)
{
	static const struct {
		double value;
		uint64_t num, den;
	} cases[] = {
		{1, 1, 1},
		{0.1, 1, 10},
		{0.3, 3, 10},
		{33.3, 333, 10},
		{100 / 60.0, 5, 3},
		{1e9, 1000000000, 1},
		{1e-9, 1, 1000000000},
		{5 / 3600.0, 1, 720},
		{1500, 1500, 1},
		{0.57e3, 570, 1},
		{123456789.125, 987654313, 8},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ratio r = ratio_of(cases[i].value);
		if (r.num != cases[i].num || r.den != cases[i].den)
			fail_msg("%.17g became %llu/%llu", cases[i].value, (unsigned long long)r.num, (unsigned long long)r.den);
	}
}

static void test_every_double_is_met(void **state)
{
	uint64_t seed = test_seed(__func__);

	(void)state;
	for (int i = 0; i < 100000; i++) {
		/* Any exponent between the two ends of a rate's range. */
		double value = ldexp(1 + (double)(test_random(&seed) >> 12) * 0x1p-52, (int)(test_random(&seed) % 59) - 29);
		struct ratio r = ratio_of(value);
		assert_true((double)r.num / (double)r.den == value);
		assert_true(r.num < UINT64_C(1) << 53 && r.den < UINT64_C(1) << 53);
	}
}

static void test_division_rounds_to_the_nearest(void **state)
{
	(void)state;
	assert_int_equal(ratio_divide(10, (struct ratio){2, 1}), 5);
	assert_int_equal(ratio_divide(3, (struct ratio){2, 1}), 2); /* 1.5 */
	assert_int_equal(ratio_divide(5, (struct ratio){2, 1}), 3); /* 2.5: halves go up */
	assert_int_equal(ratio_divide(1, (struct ratio){3, 1}), 0);
	assert_int_equal(ratio_divide(2, (struct ratio){3, 1}), 1);
	assert_int_equal(ratio_divide(1000000000, (struct ratio){125, 100}), 800000000);
	assert_int_equal(ratio_divide(1, (struct ratio){5, 10}), 2);
	assert_int_equal(ratio_divide(0, (struct ratio){7, 3}), 0);
	/* Larger than a double holds exactly. */
	assert_int_equal(ratio_divide(INT64_C(4611686018427387903), (struct ratio){3, 2}), INT64_C(3074457345618258602));
	assert_int_equal(ratio_divide(INT64_MAX, (struct ratio){1, 1000000000}), RATIO_MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_decimals_are_read_exactly),
		cmocka_unit_test(test_a_text_that_is_no_decimal_is_refused),
		cmocka_unit_test(test_fractions_of_doubles),
		cmocka_unit_test(test_every_double_is_met),
		cmocka_unit_test(test_division_rounds_to_the_nearest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
