#include "measure/token_reads.h"

#include "absent.h"
#include "unit.h"

/* A response whose events came at these times. */
static struct result measured(const int64_t *times, const int64_t *tokens, size_t count, int64_t output_tokens,
                              int64_t hidden_tokens)
{
	struct response_event *events = calloc(count, sizeof *events); /* a sanitizer sees reads beyond its end */
	assert_non_null(events);
	struct response response = {.events = events, .events_count = count};
	struct result row;
	result_init(&row);
	row.output_tokens = output_tokens;
	row.hidden_tokens = hidden_tokens;
	for (size_t i = 0; i < count; i++)
		events[i].t_ns = times[i];
	token_reads_measure(&response, tokens, &row);
	free(events);
	return row;
}

/* One token in each read: nothing is said, so rows stay small. */
static void single(void **state)
{
	const int64_t times[] = {10, 20, 30}, tokens[] = {1, 1, 1};
	(void)state;
	struct result row = measured(times, tokens, 3, 3, IPF_ABSENT);
	assert_true(row.reads == IPF_ABSENT && row.reads_2 == IPF_ABSENT && row.gap_one_ns == IPF_ABSENT);
}

/* The first read is not counted; events at the same time are one read. */
static void drafts(void **state)
{
	const int64_t times[] = {10, 20, 30, 30, 41, 50, 50, 50}, tokens[] = {2, 1, 1, 1, 9, 2, 2, 3};
	(void)state;
	struct result row = measured(times, tokens, 8, 21, IPF_ABSENT);
	assert_int_equal(row.reads, 4);
	assert_int_equal(row.reads_2, 1);
	assert_int_equal(row.reads_7, 1);
	assert_int_equal(row.reads_8, 1);
	assert_int_equal(row.reads_3, IPF_ABSENT);
	assert_int_equal(row.gap_one_ns, 10);
	assert_int_equal(row.gap_several_ns, 10 + 11 + 9);
}

/* The first read has two events. */
static void pairs(void **state)
{
	const int64_t times[] = {10, 10, 20, 20}, tokens[] = {1, 1, 1, 1};
	(void)state;
	struct result row = measured(times, tokens, 4, 4, IPF_ABSENT);
	assert_int_equal(row.reads, 1);
	assert_int_equal(row.reads_2, 1);
	assert_int_equal(row.gap_one_ns, 0);
	assert_int_equal(row.gap_several_ns, 10);
}

/* Only the sum is known. */
static void sums(void **state)
{
	const int64_t times[] = {10, 20, 30};
	(void)state;
	struct result row = measured(times, NULL, 3, 4, IPF_ABSENT);
	assert_true(row.reads == 2 && row.reads_2 == IPF_ABSENT && row.gap_one_ns == IPF_ABSENT);
	row = measured(times, NULL, 3, 3, IPF_ABSENT);
	assert_int_equal(row.reads, IPF_ABSENT);
	row = measured(times, NULL, 3, IPF_ABSENT, IPF_ABSENT);
	assert_int_equal(row.reads, IPF_ABSENT);
	/* those hidden came in no read */
	row = measured(times, NULL, 3, 9, 6);
	assert_int_equal(row.reads, IPF_ABSENT);
	row = measured(times, NULL, 3, 9, 5);
	assert_int_equal(row.reads, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(single), cmocka_unit_test(drafts), cmocka_unit_test(pairs),
	                                   cmocka_unit_test(sums)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
