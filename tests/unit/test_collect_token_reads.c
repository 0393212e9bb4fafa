#include "measure/token_reads.h"

#include "absent.h"
#include "unit.h"

enum { EVENTS_MOST = 16 };

/* A response whose events came at these times. */
static struct result measured(const int64_t *times, const int64_t *tokens, size_t count, int64_t output_tokens)
{
	struct response_event events[EVENTS_MOST] = {0};
	struct response response = {.events = events, .events_count = count};
	struct result row;
	result_init(&row);
	row.output_tokens = output_tokens;
	for (size_t i = 0; i < count; i++)
		events[i].t_ns = times[i];
	token_reads_measure(&response, tokens, &row);
	return row;
}

/* One token in each read: nothing is said, so rows stay small. */
static void single(void **state)
{
	const int64_t times[] = {10, 20, 30}, tokens[] = {1, 1, 1};
	(void)state;
	struct result row = measured(times, tokens, 3, 3);
	assert_true(row.reads == IPF_ABSENT && row.reads_2 == IPF_ABSENT && row.gap_one_ns == IPF_ABSENT);
}

/* The first read is not counted; events at the same time are one read. */
static void drafts(void **state)
{
	const int64_t times[] = {10, 20, 30, 30, 41, 50, 50, 50}, tokens[] = {2, 1, 1, 1, 9, 2, 2, 3};
	(void)state;
	struct result row = measured(times, tokens, 8, 21);
	assert_int_equal(row.reads, 4);
	assert_int_equal(row.reads_2, 1);
	assert_int_equal(row.reads_7, 1);
	assert_int_equal(row.reads_8, 1);
	assert_int_equal(row.reads_3, IPF_ABSENT);
	assert_int_equal(row.gap_one_ns, 10);
	assert_int_equal(row.gap_several_ns, 10 + 11 + 9);
}

/* Only the sum is known. */
static void sums(void **state)
{
	const int64_t times[] = {10, 20, 30};
	(void)state;
	struct result row = measured(times, NULL, 3, 9);
	assert_true(row.reads == 2 && row.reads_2 == IPF_ABSENT && row.gap_one_ns == IPF_ABSENT);
	row = measured(times, NULL, 3, 3);
	assert_int_equal(row.reads, IPF_ABSENT);
	row = measured(times, NULL, 3, IPF_ABSENT);
	assert_int_equal(row.reads, IPF_ABSENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(single), cmocka_unit_test(drafts), cmocka_unit_test(sums)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
