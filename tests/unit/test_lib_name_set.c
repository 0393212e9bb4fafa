/* name_set.h: the same answers in memory and with hashes in a file. */
#include "name_set.h"

#include "memory_limit.h"
#include "unit.h"

static void finds_each_name_again(void **state)
{
	(void)state;
	uint64_t random = test_seed("names");
	for (int round = 0; round < 8; round++) {
		struct name_set names = {0};
		struct ipf_error err = {0};
		const uint64_t different = 20000;
		bool *there = calloc(different, sizeof *there);
		memory_limit_set(round % 2 ? (size_t)1000 << round : 0);
		for (int i = 0; i < 30000; i++) {
			char name[24];
			uint64_t number = test_random(&random) % different;
			int len = snprintf(name, sizeof name, "id-%llu", (unsigned long long)number);
			assert_int_equal(name_set_add(&names, (struct slice){name, (size_t)len}), !there[number]);
			there[number] = true;
		}
		assert_int_equal(name_set_check(&names, &err), 0);
		if (round == 1)
			assert_true(names.cap <= 1024);
		name_set_release(&names);
		free(there);
	}
	memory_limit_set(0);
}

static void a_folder_that_is_missing_is_an_error(void **state)
{
	(void)state;
	struct name_set names = {0};
	struct ipf_error err = {0};
	const char *before = getenv("TMPDIR");
	char *kept = before ? strdup(before) : NULL;
	setenv("TMPDIR", "/nowhere/at/all", 1);
	memory_limit_set(1000);
	for (int i = 0; i < 2000; i++) {
		char name[24];
		int len = snprintf(name, sizeof name, "%d", i);
		assert_int_equal(name_set_add(&names, (struct slice){name, (size_t)len}), 1);
	}
	assert_int_equal(name_set_check(&names, &err), -1);
	assert_int_equal(err.kind, IPF_SYSTEM);
	assert_string_equal(err.file, "/nowhere/at/all");
	memory_limit_set(0);
	name_set_release(&names);
	if (kept)
		setenv("TMPDIR", kept, 1);
	else
		unsetenv("TMPDIR");
	free(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_each_name_again),
		cmocka_unit_test(a_folder_that_is_missing_is_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
