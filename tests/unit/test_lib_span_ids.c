/* Ids of spans: the same each time, and shared by a session's requests only in the trace. */
#include "unit.h"

#include "span_ids.h"

static void traceparent_is(const char *run, int64_t n, const char *session, const char *expected)
{
	char text[SPAN_IDS_TRACEPARENT];
	struct span_ids ids = span_ids(slice_of(run), n, slice_of(session));
	span_ids_traceparent(&ids, text);
	assert_string_equal(text, expected);
}

/* They must never change: spans sent before would not be found again. */
static void ids_are_fixed(void **state)
{
	(void)state;
	traceparent_is("run", 0, NULL, "00-2620a05972328c4495f63ff96ed177d4-9cbd1d57273d4685-01");
	traceparent_is("run", 1, "s", "00-97f2d2ce6d6c05be603b14cd6dca5275-a6609615dc19c19c-01");
	traceparent_is("run", 2, "s", "00-97f2d2ce6d6c05be603b14cd6dca5275-e83a254f52db8ffb-01");
}

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct span_ids));
}

static void ids_differ(void **state)
{
	enum { COUNT = 3000 };
	static struct span_ids ids[COUNT];
	char run[16];
	(void)state;
	for (int i = 0; i < COUNT; i++) {
		snprintf(run, sizeof run, "run %d", i % 3);
		ids[i] = span_ids(slice_of(run), i / 3, slice_of(""));
	}
	qsort(ids, COUNT, sizeof *ids, compare);
	for (int i = 1; i < COUNT; i++)
		if (!memcmp(ids[i].trace, ids[i - 1].trace, 8) || !memcmp(ids[i].span, ids[i - 1].span, 8))
			fail_msg("two requests have one id");
}

static void sessions_share_a_trace(void **state)
{
	struct span_ids first = span_ids(slice_of("a"), 1, slice_of("s")),
					second = span_ids(slice_of("a"), 2, slice_of("s")),
					other = span_ids(slice_of("a"), 1, slice_of("t")), run = span_ids(slice_of("b"), 1, slice_of("s")),
					alone = span_ids(slice_of("a"), 1, slice_of(NULL));
	(void)state;
	assert_memory_equal(first.trace, second.trace, sizeof first.trace);
	assert_memory_not_equal(first.span, second.span, sizeof first.span);
	assert_memory_not_equal(first.trace, other.trace, sizeof first.trace);
	assert_memory_not_equal(first.trace, run.trace, sizeof first.trace);
	assert_memory_not_equal(first.trace, alone.trace, sizeof first.trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(ids_are_fixed), cmocka_unit_test(ids_differ),
	                                   cmocka_unit_test(sessions_share_a_trace)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
