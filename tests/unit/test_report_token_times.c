/* When the tokens of a request arrived: by known times, evenly between them, and which of these are exact. */
#include "unit.h"

#include "absent.h"
#include "figures/token_times.h"

#include <math.h>

static void before_and_after(void **state)
{
	(void)state;
	const struct token_times t = {.tokens = 10, .first_ns = 100, .last_ns = 1000, .after_ns = IPF_ABSENT, .events = 10};
	assert_float_equal(token_times_before(&t, 100), 0, 0); /* a token at this time comes after it */
	assert_float_equal(token_times_before(&t, 101), 1, 0);
	assert_float_equal(token_times_before(&t, 500), 4, 0);
	assert_float_equal(token_times_before(&t, 501), 5, 0);
	assert_float_equal(token_times_before(&t, 1000), 9, 0);
	assert_float_equal(token_times_before(&t, 1001), 10, 0);
	assert_true(token_times_exact(&t, 100));
	assert_true(token_times_exact(&t, 1001));
	assert_false(token_times_exact(&t, 500));
}

static void known_edges(void **state)
{
	(void)state;
	static const int64_t edges[] = {400, 8, 600, 8};
	const struct token_times t = {.tokens = 10,
	                              .first_ns = 0,
	                              .last_ns = 1000,
	                              .after_ns = IPF_ABSENT,
	                              .events = 10,
	                              .edges = edges,
	                              .edge_count = 2};
	assert_float_equal(token_times_before(&t, 400), 8, 0);
	assert_float_equal(token_times_before(&t, 600), 8, 0);
	assert_true(token_times_exact(&t, 400) && token_times_exact(&t, 600));
	assert_float_equal(token_times_before(&t, 200), 4.5, 1e-9); /* evenly between those that are known */
	assert_float_equal(token_times_before(&t, 500), 8, 1e-9);
	assert_float_equal(token_times_before(&t, 1000), 9, 0); /* all but the last event */
	assert_false(token_times_exact(&t, 500));
}

static void never_more_than_there_are(void **state)
{
	(void)state;
	static const int64_t edges[] = {400, 80};
	const struct token_times t = {
		.tokens = 10, .last_ns = 1000, .after_ns = IPF_ABSENT, .events = 2, .edges = edges, .edge_count = 1};
	for (int64_t at = 0; at < 1100; at += 50) {
		assert_true(token_times_before(&t, at) >= 0 && token_times_before(&t, at) <= 10);
		assert_true(token_times_before(&t, at) <= token_times_before(&t, at + 50));
	}
}

static void at_the_end(void **state)
{
	(void)state;
	const struct token_times whole = {.tokens = 10, .first_ns = 1000, .last_ns = 1000, .after_ns = IPF_ABSENT},
							 unknown = {.tokens = 10, .first_ns = 1000, .last_ns = 1000, .after_ns = 100},
							 none = {.tokens = NAN, .first_ns = 1000, .last_ns = 1000, .after_ns = IPF_ABSENT};
	assert_float_equal(token_times_before(&whole, 1000), 0, 0);
	assert_float_equal(token_times_before(&whole, 1001), 10, 0);
	assert_true(token_times_exact(&whole, 500)); /* not streamed */
	assert_false(token_times_exact(&unknown, 500));
	assert_float_equal(token_times_before(&none, 2000), 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(before_and_after),
		cmocka_unit_test(known_edges),
		cmocka_unit_test(never_more_than_there_are),
		cmocka_unit_test(at_the_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
