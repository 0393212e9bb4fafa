/* A server's announcements about the connections it keeps. */
#include "clock.h"
#include "http/keep_alive.h"
#include "unit.h"

static void timeout_and_max_are_read(void **state)
{
	static const struct {
		const char *value;
		int64_t idle_ns, requests;
	} cases[] = {
		{"timeout=5, max=100", 4 * NS_PER_S, 100},
		{"max=0,timeout=75", 74 * NS_PER_S, 0},
		{" Timeout = \"10\" ", 9 * NS_PER_S, INT64_MAX},
		{"timeout=1", NS_PER_S / 2, INT64_MAX},
		{"timeout=2", NS_PER_S, INT64_MAX},
		{"timeout=0", 0, INT64_MAX},
		{"", INT64_MAX, INT64_MAX},
		{",,;", INT64_MAX, INT64_MAX},
		{"timeout, max", INT64_MAX, INT64_MAX},
		{"timeout=, max=\"\"", INT64_MAX, INT64_MAX},
		{"timeout=-5, max=1.5", INT64_MAX, INT64_MAX},
		{"timeouts=5, maximal=3", INT64_MAX, INT64_MAX},
		{"timeout=99999999999999999999999, max=99999999999999999999999", 999999999 * NS_PER_S, 1000000000},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct keep_alive k = KEEP_ALIVE_UNKNOWN;
		keep_alive_read(&k, slice_of(cases[i].value));
		if (k.idle_ns != cases[i].idle_ns || k.requests != cases[i].requests)
			fail_msg("%s: %lld ns, %lld requests", cases[i].value, (long long)k.idle_ns, (long long)k.requests);
	}
}

static void a_connection_is_over_after_its_limits(void **state)
{
	struct keep_alive k = KEEP_ALIVE_UNKNOWN;
	(void)state;
	for (int i = 0; i < 1000; i++)
		keep_alive_sent(&k);
	assert_false(keep_alive_over(&k, INT64_MAX));
	keep_alive_read(&k, slice_of("timeout=5, max=2"));
	assert_false(keep_alive_over(&k, 3999 * NS_PER_MS));
	assert_true(keep_alive_over(&k, 4000 * NS_PER_MS));
	keep_alive_sent(&k);
	keep_alive_read(&k, slice_of("timeout=60, max=2")); /* the same number again does not make it more */
	assert_false(keep_alive_over(&k, 58 * NS_PER_S));
	keep_alive_sent(&k);
	assert_true(keep_alive_over(&k, 0));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(timeout_and_max_are_read),
		cmocka_unit_test(a_connection_is_over_after_its_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
