#include "unit.h"

#include "cli/nearest.h"

#include <string.h>

static const char *nearest_of(const char *typed)
{
	static const char *const known[] = {"constant", "poisson", "gamma", "closed", "rest", "n"};
	struct nearest near = {0};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		nearest_try(&near, typed, strlen(typed), known[i]);
	return near.name;
}

static void test_nearest(void **state)
{
	char longest[100];

	(void)state;
	assert_string_equal(nearest_of("poison"), "poisson");
	assert_string_equal(nearest_of("posison"), "poisson");
	assert_string_equal(nearest_of("close"), "closed");
	assert_string_equal(nearest_of("gama"), "gamma");
	assert_string_equal(nearest_of("rets"), "rest");
	assert_null(nearest_of("sharegpt"));
	assert_null(nearest_of(""));
	memset(longest, 'p', sizeof longest - 1);
	longest[sizeof longest - 1] = '\0';
	assert_null(nearest_of(longest));
}

static const char *short_of(const char *typed)
{
	static const char *const known[] = {"text", "md", "html", "mlperf"};
	struct nearest near = {0};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		nearest_try_short(&near, typed, strlen(typed), known[i]);
	return near.name;
}

static void test_short(void **state)
{
	(void)state;
	assert_string_equal(short_of("markdown"), "md");
	assert_string_equal(short_of("htlm"), "html");
	assert_null(short_of("open"));
	assert_null(short_of("zzz"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_nearest), cmocka_unit_test(test_short)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
