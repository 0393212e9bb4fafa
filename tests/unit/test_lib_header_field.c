/* Headers of a request. */
#include "unit.h"

#include "header_field.h"

#include <string.h>

static void names(void **state)
{
	static const char *const good[] = {"a", "X-Request-Id", "x_y", "!#$%&'*+-.^_`|~09AZaz"};
	static const char *const bad[] = {"",    " a",    "a ",  "a b", "a\t",   "a:",        "a;",
	                                  "(a)", "a/b",   "a=b", "[a]", "{a}",   "a@b",       "a,b",
	                                  "a?",  "\"a\"", "a\\", "a\n", "a\x7f", "a\xc3\xa9", "\x80"};
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		if (!header_name_is_valid(good[i], strlen(good[i])))
			fail_msg("%s is a name", good[i]);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		if (header_name_is_valid(bad[i], strlen(bad[i])))
			fail_msg("\"%s\" is no name", bad[i]);
	assert_false(header_name_is_valid("a\0b", 3));
	assert_true(header_name_is_valid("ab c", 2));
}

static void values(void **state)
{
	(void)state;
	assert_true(header_value_is_valid(""));
	assert_true(header_value_is_valid(" a\tb \xc3\xa9 \x80"));
	for (int c = 1; c < 0x80; c++) {
		char value[] = {'a', (char)c, 'b', '\0'};
		assert_int_equal(header_value_is_valid(value), (c >= 0x20 && c != 0x7f) || c == '\t');
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(values)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
