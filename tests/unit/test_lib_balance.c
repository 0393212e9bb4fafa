#include "unit.h"

#include "run/balance.h"

static struct slice name(char text[16], int i)
{
	snprintf(text, 16, "\"s%d\"", i);
	return slice_of(text);
}

static void test_round_robin(void **state)
{
	struct balance *b = balance_new(BALANCE_ROUND_ROBIN, 3);
	(void)state;
	for (size_t i = 0; i < 9; i++)
		assert_int_equal(balance_choose(b, (struct slice){0}), i % 3);
	balance_free(b);
}

static void test_the_least_loaded(void **state)
{
	struct balance *b = balance_new(BALANCE_LEAST, 3);
	(void)state;
	assert_int_equal(balance_choose(b, (struct slice){0}), 0);
	assert_int_equal(balance_choose(b, (struct slice){0}), 1);
	assert_int_equal(balance_choose(b, (struct slice){0}), 2);
	balance_ended(b, 1);
	assert_int_equal(balance_choose(b, (struct slice){0}), 1);
	/* all equal again: in turn, so not always the first is chosen */
	assert_int_equal(balance_choose(b, (struct slice){0}), 2);
	assert_int_equal(balance_choose(b, (struct slice){0}), 0);
	balance_free(b);
}

static void test_sessions_stay(void **state)
{
	struct balance *b = balance_new(BALANCE_SESSION, 4), *other = balance_new(BALANCE_SESSION, 4);
	size_t at[1000], count[4] = {0};
	char text[16];
	(void)state;
	for (int i = 0; i < 1000; i++)
		count[at[i] = balance_choose(b, name(text, i))]++;
	for (int i = 999; i >= 0; i--)
		assert_int_equal(balance_choose(other, name(text, i)), at[i]);
	for (int i = 0; i < 4; i++)
		assert_in_range(count[i], 180, 320);
	/* without a session the targets are used in turn */
	for (size_t i = 0; i < 8; i++)
		assert_int_equal(balance_choose(b, (struct slice){0}), i % 4);
	balance_free(b);
	balance_free(other);
}

static void test_targets_that_are_out(void **state)
{
	char text[16];
	(void)state;
	for (enum balance_kind kind = BALANCE_ROUND_ROBIN; kind <= BALANCE_SESSION; kind++) {
		struct balance *b = balance_new(kind, 5);
		size_t at[1000], count[5] = {0};
		balance_set_in(b, 0, false);
		balance_set_in(b, 3, false);
		balance_set_in(b, 3, false);
		for (int i = 0; i < 999; i++)
			count[at[i] = balance_choose(b, name(text, i))]++;
		assert_int_equal(count[0] + count[3], 0);
		for (size_t i = 1; i < 5; i += i == 2 ? 2 : 1)
			assert_in_range(count[i], kind == BALANCE_SESSION ? 280 : 333, kind == BALANCE_SESSION ? 390 : 333);
		balance_set_in(b, 0, true);
		balance_set_in(b, 3, true);
		for (int i = 0; i < 1000; i++)
			count[balance_choose(b, name(text, i))]++;
		assert_true(count[0] > 150 && count[3] > 150);
		balance_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_robin),
		cmocka_unit_test(test_the_least_loaded),
		cmocka_unit_test(test_sessions_stay),
		cmocka_unit_test(test_targets_that_are_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
