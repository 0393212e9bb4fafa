/* Rates of arrivals showing a wrong unit of their times. */
#include "clock.h"
#include "shape/arrival_pace.h"
#include "unit.h"

#include <math.h>

/* `count` arrivals, `gap_ns` apart. */
static struct arrival_pace evenly(int64_t count, int64_t gap_ns)
{
	struct arrival_pace p = {0};
	for (int64_t i = 0; i < count; i++)
		arrival_pace_add(&p, 7 + (i * 5 % count) * gap_ns);
	return p;
}

static void rates_of_services_are_plausible(void **state)
{
	(void)state;
	for (int64_t gap_ns = NS_PER_MS; gap_ns <= 6 * 3600 * NS_PER_S; gap_ns *= 3) {
		struct arrival_pace p = evenly(501, gap_ns);
		assert_int_equal(arrival_pace_judge(&p, NAN, 0), PACE_PLAUSIBLE);
		assert_int_equal(arrival_pace_judge(&p, NAN, NS_PER_S), PACE_PLAUSIBLE);
	}
}

static void thousands_a_second_are_too_fast(void **state)
{
	(void)state;
	struct arrival_pace p = evenly(501, NS_PER_MS / 3), few = evenly(47, NS_PER_MS / 3), none = evenly(501, 0);
	assert_int_equal(arrival_pace_judge(&p, NAN, 0), PACE_TOO_FAST);
	assert_int_equal(arrival_pace_judge(&p, 10, 0), PACE_PLAUSIBLE); /* they were scaled to ten times the rate */
	assert_int_equal(arrival_pace_judge(&few, NAN, 0), PACE_PLAUSIBLE);
	assert_int_equal(arrival_pace_judge(&none, NAN, 0), PACE_PLAUSIBLE);
}

static void fractions_of_a_small_unit_are_too_fast(void **state)
{
	(void)state;
	struct arrival_pace partial = evenly(501, NS_PER_MS * 5 / 2), whole = evenly(501, NS_PER_MS * 2);
	assert_int_equal(arrival_pace_judge(&whole, NAN, NS_PER_MS), PACE_PLAUSIBLE);
	assert_int_equal(arrival_pace_judge(&partial, NAN, NS_PER_S), PACE_PLAUSIBLE);
	assert_int_equal(arrival_pace_judge(&partial, NAN, NS_PER_US), PACE_PLAUSIBLE);
	partial = evenly(501, NS_PER_MS * 8 / 3);
	assert_int_equal(arrival_pace_judge(&partial, NAN, NS_PER_MS), PACE_TOO_FAST);
}

static void days_between_requests_are_too_slow(void **state)
{
	(void)state;
	struct arrival_pace p = evenly(501, 7 * 3600 * NS_PER_S);
	assert_int_equal(arrival_pace_judge(&p, NAN, NS_PER_S), PACE_TOO_SLOW);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rates_of_services_are_plausible),
		cmocka_unit_test(thousands_a_second_are_too_fast),
		cmocka_unit_test(fractions_of_a_small_unit_are_too_fast),
		cmocka_unit_test(days_between_requests_are_too_slow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
