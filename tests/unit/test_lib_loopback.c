/* Which hosts are this machine. */
#include "unit.h"

#include "loopback.h"

static void loopback(void **state)
{
	static const char *const is[] = {
		"localhost", "LocalHost", "127.0.0.1",        "127.255.255.254",    "::1",
		"[::1]",     "[0:0::1]",  "::ffff:127.0.0.1", "[::FFFF:127.1.2.3]", "[::ffff:7f00:1]"};
	(void)state;
	for (size_t i = 0; i < sizeof is / sizeof *is; i++)
		if (!host_is_loopback(is[i]))
			fail_msg("%s is this machine", is[i]);
}

static void elsewhere(void **state)
{
	static const char *const is[] = {"",
	                                 "127.",
	                                 "127.evil.example",
	                                 "127.0.0.1.evil.example",
	                                 "127.0.0.1.",
	                                 "127.0.0.1x",
	                                 "127.1",
	                                 "localhost.",
	                                 "localhost.evil",
	                                 "xlocalhost",
	                                 "[::1",
	                                 "::1]",
	                                 "[::1]x",
	                                 "[]",
	                                 "::2",
	                                 "[::1%lo]",
	                                 "::ffff:128.0.0.1",
	                                 "::127.0.0.1",
	                                 "::fffe:127.0.0.1",
	                                 "128.0.0.1",
	                                 "1127.0.0.1",
	                                 "0.0.0.0",
	                                 "::",
	                                 " 127.0.0.1",
	                                 "[127.0.0.1]",
	                                 "0127.0.0.1",
	                                 "[00000000000000000000000000000000000000000000000000000000000001]"};
	(void)state;
	for (size_t i = 0; i < sizeof is / sizeof *is; i++)
		if (host_is_loopback(is[i]))
			fail_msg("\"%s\" is not this machine", is[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(loopback), cmocka_unit_test(elsewhere)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
