/* Lines of rows: lines added are read again, in any order; the times of events in them. */
#include "unit.h"

#include "results/event_times.h"
#include "results/row_lines.h"

#include <stdlib.h>

static void lines_are_read_in_any_order(void **state)
{
	(void)state;
	enum { LINES = 300 };
	struct ipf_error err = {0};
	struct row_lines *lines = row_lines_new(&err);
	int64_t where[LINES];
	uint64_t random = test_seed("lines_are_read_in_any_order");
	assert_non_null(lines);
	for (int i = 0; i < LINES; i++) {
		char line[600];
		snprintf(line, sizeof line, "{\"n\":%d,\"stage\":0,\"ok\":true,\"text\":\"%0*d\"}", i, 1 + i % 500, i);
		where[i] = row_lines_add(lines, slice_of(line));
	}
	for (int round = 0; round < 3 * LINES; round++) {
		int i = round < LINES ? round : (int)(test_random(&random) % LINES);
		struct result result;
		assert_true(row_lines_read(lines, where[i], &result));
		assert_int_equal(result.n, i);
	}
	assert_int_equal(row_lines_check(lines, &err), 0);
	row_lines_free(lines);
	row_lines_free(NULL);
}

static void a_bad_place_is_an_error(void **state)
{
	(void)state;
	struct ipf_error err = {0};
	struct row_lines *lines = row_lines_new(&err);
	struct result result;
	assert_non_null(lines);
	row_lines_add(lines, slice_of("{\"n\":1,\"stage\":0,\"ok\":true}"));
	assert_false(row_lines_read(lines, 1000, &result));
	assert_int_equal(row_lines_check(lines, &err), -1);
	assert_int_equal(err.kind, IPF_SYSTEM);
	row_lines_free(lines);
}

static void no_folder_is_an_error(void **state)
{
	(void)state;
	struct ipf_error err = {0};
	setenv("TMPDIR", "/no/such/folder", 1);
	assert_null(row_lines_new(&err));
	assert_int_equal(err.kind, IPF_SYSTEM);
	unsetenv("TMPDIR");
}

static void times_of_events(void **state)
{
	(void)state;
	struct event_times times = {0};
	assert_true(event_times_parse(&times, slice_of("[10, 25,40]")));
	assert_int_equal(times.count, 3);
	assert_float_equal(times.ns[1], 25, 0);
	assert_true(event_times_parse(&times, slice_of("[]")));
	assert_int_equal(times.count, 0);
	assert_false(event_times_parse(&times, (struct slice){0}));
	/* a file's other values instead of integers: read somehow, within the list */
	static const char *const odd[] = {"[1.5,-2,1e400]", "[\"a,b\",[1,2],{}]", "[null,true]"};
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
		assert_true(event_times_parse(&times, slice_of(odd[i])));
	event_times_release(&times);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_read_in_any_order),
		cmocka_unit_test(a_bad_place_is_an_error),
		cmocka_unit_test(no_folder_is_an_error),
		cmocka_unit_test(times_of_events),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
