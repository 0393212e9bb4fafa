/* MLPerf's early-stopping estimates: numbers of samples its rules name, and properties. */
#include "unit.h"

#include "figures/early_stopping.h"

#include <math.h>

/* MLPerf's inference rules: at least 64 queries for the 90th percentile, 662 for the 99th. */
static void numbers_of_the_rules(void **state)
{
	(void)state;
	assert_int_equal(early_stopping_discard(63, 90), 0);
	assert_int_equal(early_stopping_discard(64, 90), 1);
	assert_int_equal(early_stopping_discard(661, 99), 0);
	assert_int_equal(early_stopping_discard(662, 99), 1);
	assert_int_equal(early_stopping_discard(6635, 99.9), 0);
	assert_int_equal(early_stopping_discard(6636, 99.9), 1);
	assert_int_equal(early_stopping_discard(0, 90), 0);
	assert_int_equal(early_stopping_discard(1, 90), 0);
}

/* More samples never discard fewer; never as many as the percentile itself would. */
static void monotone(void **state)
{
	(void)state;
	int64_t last = 0;
	for (int64_t n = 1; n < 20000; n += 1 + n / 50) {
		int64_t t = early_stopping_discard(n, 97);
		assert_true(t >= last && (double)t < 0.03 * (double)n);
		last = t;
	}
	int64_t many = early_stopping_discard(10000000, 99);
	assert_in_range(many, 99000, 99999);
}

/* LoadGen's own words: "Would need to run at least 405 more queries" after 54 of which none was over latency. */
static void needed_samples(void **state)
{
	(void)state;
	assert_int_equal(early_stopping_needed(0, 99), 54 + 405);
	assert_int_equal(early_stopping_needed(1, 99), 662);
	assert_int_equal(early_stopping_needed(1, 90), 64);
	assert_int_equal(early_stopping_needed(0, 50), 7);
	for (int64_t n = 64; n < 100000; n += 1 + n / 3)
		for (int p = 90; p < 100; p += 3) {
			int64_t t = early_stopping_discard(n, p);
			if (t == 0)
				continue;
			assert_true(early_stopping_needed(t, p) <= n);
			assert_true(early_stopping_needed(t + 1, p) > n);
		}
}

static void the_highest_samples(void **state)
{
	(void)state;
	struct samples s = {0};
	for (int i = 64; i > 0; i--)
		samples_add(&s, i);
	assert_float_equal(early_stopping_estimate(&s, 0, 90), 64, 0); /* the first highest */
	assert_true(isinf(early_stopping_estimate(&s, 1, 90)));        /* a failure is higher */
	assert_true(isnan(early_stopping_estimate(&s, 0, 99)));
	for (int i = 65; i <= 1000; i++)
		samples_add(&s, i);
	s.sorted = false;
	int64_t t = early_stopping_discard(1000, 90);
	assert_float_equal(early_stopping_estimate(&s, 0, 90), (float)(1001 - t), 0);
	assert_float_equal(early_stopping_estimate(&s, 2, 90), (float)(1003 - early_stopping_discard(1002, 90)), 0);
	samples_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_of_the_rules),
		cmocka_unit_test(monotone),
		cmocka_unit_test(needed_samples),
		cmocka_unit_test(the_highest_samples),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
