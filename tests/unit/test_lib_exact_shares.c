/* Exact intervals and tests of shares, against the figures of SciPy (binomtest, fisher_exact). */
#include "unit.h"

#include "stats/exact_shares.h"

static void intervals_are_those_of_clopper_and_pearson(void **state)
{
	(void)state;
	static const struct {
		int64_t count, all;
		double low, high;
	} cases[] = {{0, 10, 0, 0.30849710781876294},
	             {3, 10, 0.06673951117773447, 0.652452850060008},
	             {15, 300, 0.028251201968477496, 0.08112735717076412},
	             {300, 300, 0.9877790253057036, 1},
	             {1, 1, 0.025, 1},
	             {0, 0, 0, 1}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct exact_interval got = share_exact_interval(cases[i].count, cases[i].all);
		assert_float_equal(got.low, cases[i].low, 1e-7);
		assert_float_equal(got.high, cases[i].high, 1e-7);
		assert_true(cases[i].low > 0 || got.low <= 0);
		assert_true(cases[i].high < 1 || got.high >= 1);
	}
}

static void signs_are_counted_exactly(void **state)
{
	(void)state;
	assert_float_equal(share_sign_p(5, 0), 0.03125, 1e-9);
	assert_float_equal(share_sign_p(12, 3), 0.017578125, 1e-9);
	assert_float_equal(share_sign_p(40, 30), 0.140989460896828, 1e-9);
	assert_float_equal(share_sign_p(0, 4), 1, 0);
	assert_float_equal(share_sign_p(0, 0), 1, 0);
}

static void two_groups_are_tested_exactly(void **state)
{
	(void)state;
	assert_float_equal(share_fisher_p(0, 10, 5, 10), 0.016253869969040248, 1e-9);
	assert_float_equal(share_fisher_p(2, 300, 15, 300), 0.0010253576824977245, 1e-9);
	assert_float_equal(share_fisher_p(120, 300, 129, 300), 0.2537336321857204, 1e-9);
	assert_float_equal(share_fisher_p(0, 50, 15, 300), 0.09406130668278868, 1e-9);
	assert_float_equal(share_fisher_p(0, 0, 5, 10), 1, 0);
	assert_float_equal(share_fisher_p(5, 10, 0, 0), 1, 0);
	assert_float_equal(share_fisher_p(0, 0, 0, 0), 1, 0);
	assert_float_equal(share_fisher_p(5, 10, 0, 10), 1, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(intervals_are_those_of_clopper_and_pearson),
		cmocka_unit_test(signs_are_counted_exactly),
		cmocka_unit_test(two_groups_are_tested_exactly),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
