/* --start-at /TIME: the next full multiple of a time of the wall clock. */
#include "run/start_time.h"

#include "clock.h"

#include "unit.h"

static void test_a_grid_is_the_next_full_multiple(void **state)
{
	(void)state;
	const struct {
		const char *text;
		int64_t every_ns;
	} grids[] = {{"/1s", NS_PER_S},
	             {"/10s", 10 * NS_PER_S},
	             {"/7s", 7 * NS_PER_S},
	             {"/1m", 60 * NS_PER_S},
	             {"/1d", 86400 * NS_PER_S}};
	for (size_t i = 0; i < sizeof grids / sizeof *grids; i++) {
		struct start_time start;
		struct ipf_error err = {0};
		const int64_t before = clock_wall();
		assert_int_equal(start_time_parse(grids[i].text, &start, &err), 0);
		const int64_t after = clock_wall();
		assert_int_equal(start.at_ns % grids[i].every_ns, 0);
		assert_true(start.at_ns > before + 2 * NS_PER_S);
		assert_true(start.at_ns <= after + 2 * NS_PER_S + grids[i].every_ns);
		assert_false(start.relative);
	}
}

static void test_clients_within_a_grid_begin_together(void **state)
{
	(void)state;
	struct start_time one, other;
	struct ipf_error err = {0};
	assert_int_equal(start_time_parse("/1d", &one, &err), 0);
	assert_int_equal(start_time_parse("/1d", &other, &err), 0);
	/* but at midnight */
	assert_true(one.at_ns == other.at_ns || other.at_ns - one.at_ns == 86400 * NS_PER_S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_grid_is_the_next_full_multiple),
		cmocka_unit_test(test_clients_within_a_grid_begin_together),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
