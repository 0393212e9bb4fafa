#include "token_count.h"
#include "unit.h"

static void possible_counts(void **state)
{
	(void)state;
	assert_true(token_count_is_possible(0));
	assert_true(token_count_is_possible(TOKENS_MAX));
	assert_false(token_count_is_possible(TOKENS_MAX + 1));
	assert_false(token_count_is_possible(-1));
	assert_false(token_count_is_possible(INT64_MAX));
	assert_false(token_count_is_possible(IPF_ABSENT));
}

static void sums_that_overflow_are_absent_and_stay_so(void **state)
{
	(void)state;
	assert_int_equal(token_sum(2, 3), 5);
	assert_int_equal(token_sum(INT64_MAX - 1, 1), INT64_MAX);
	assert_int_equal(token_sum(INT64_MAX, 1), IPF_ABSENT);
	assert_int_equal(token_sum(IPF_ABSENT, 1), IPF_ABSENT);
	assert_int_equal(token_sum(1, IPF_ABSENT), IPF_ABSENT);
	int64_t sum = 0;
	for (int i = 0; i < 9000000; i++)
		sum = token_sum(sum, TOKENS_MAX);
	assert_int_equal(sum, IPF_ABSENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(possible_counts),
		cmocka_unit_test(sums_that_overflow_are_absent_and_stay_so),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
