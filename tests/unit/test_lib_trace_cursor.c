#include "unit.h"

#include "absent.h"
#include "requests/request_copies.h"
#include "requests/trace_cursor.h"
#include "stream/provenance.h"

#include <unistd.h>

static char path[] = "/tmp/ipf-test-picker-XXXXXX";

/* Sessions of `turns` requests each; the last request stands alone. */
static void write_trace(int sessions, int turns)
{
	struct ipf_error err = {0};
	struct stream_writer *w;
	struct buffer line = {0};
	struct provenance p = {.tool = "test"};
	json_t *header = stream_header("trace", &p);
	assert_int_equal(stream_writer_open(&w, path, header, &err), 0);
	for (int s = 0; s < sessions; s++)
		for (int t = 0; t < turns; t++) {
			buffer_clear(&line);
			buffer_format(
				&line,
				"{\"id\":\"%d.%d\",\"session\":\"s%d\",\"turn\":%d,\"messages\":[{\"role\":\"user\",\"content\":\"q%d.%d\"}],"
				"\"answer\":\"a%d.%d\"%s}",
				s, t, s, t, s, t, s, t, t ? ",\"context\":\"session\"" : "");
			assert_int_equal(stream_writer_line(w, &line, &err), 0);
		}
	buffer_clear(&line);
	buffer_text(&line, "{\"id\":\"alone\",\"prompt\":\"p\"}");
	assert_int_equal(stream_writer_line(w, &line, &err), 0);
	assert_int_equal(stream_writer_close(w, NULL, &err), 0);
	json_decref(header);
	buffer_release(&line);
}

static void assert_gets(struct trace_cursor *p, int64_t index, int sessions, int turns)
{
	struct trace_request q;
	struct slice context;
	struct ipf_error err = {0};
	char id[32];
	if (trace_cursor_get(p, index, &q, &context, &err) != 1)
		fail_msg("%lld: %s", (long long)index, err.text);
	if (index == (int64_t)sessions * turns) {
		assert_true(slice_is(q.id, "\"alone\""));
		assert_int_equal(context.len, 0);
		return;
	}
	int s = (int)index / turns, t = (int)index % turns;
	snprintf(id, sizeof id, "\"%d.%d\"", s, t);
	assert_true(slice_is(q.id, id));
	assert_int_equal(q.turn, t);
	struct buffer expected = {0};
	for (int i = 0; i < t; i++)
		buffer_format(&expected,
		              "%s{\"role\":\"user\",\"content\":\"q%d.%d\"},{\"role\":\"assistant\",\"content\":\"a%d.%d\"}",
		              i ? "," : "", s, i, s, i);
	assert_true(
		slice_equal((struct slice){expected.data, expected.len}, (struct slice){t ? context.data : NULL, context.len}));
	buffer_release(&expected);
}

static struct trace_cursor *open_picker(void)
{
	struct trace_cursor *p;
	struct ipf_error err = {0};
	if (trace_cursor_open(&p, path, 0, &err) < 0)
		fail_msg("%s", err.text);
	return p;
}

static void test_requests_come_in_order_and_go_round(void **state)
{
	(void)state;
	write_trace(3, 4);
	struct trace_cursor *p = open_picker();
	for (int64_t i = 0; i < 13 * 3; i++)
		assert_gets(p, i % 13, 3, 4);
	trace_cursor_close(p);
}

static void test_a_request_may_be_read_twice(void **state)
{
	(void)state;
	write_trace(0, 1);
	struct trace_cursor *p = open_picker();
	for (int i = 0; i < 5; i++)
		assert_gets(p, 0, 0, 1);
	trace_cursor_close(p);
}

static void test_sessions_side_by_side(void **state)
{
	(void)state;
	write_trace(5, 4);
	struct trace_cursor *p = open_picker();
	/* all first turns, twice over, then all second ones, twice over … */
	for (int t = 0; t < 4; t++)
		for (int round = 0; round < 2; round++)
			for (int s = 0; s < 5; s++)
				assert_gets(p, s * 4 + t, 5, 4);
	assert_gets(p, 20, 5, 4);
	trace_cursor_close(p);
}

static void test_any_order(void **state)
{
	uint64_t random = test_seed(__func__);
	(void)state;
	write_trace(7, 3);
	struct trace_cursor *p = open_picker();
	for (int i = 0; i < 2000; i++)
		assert_gets(p, (int64_t)(test_random(&random) % 22), 7, 3);
	trace_cursor_close(p);
}

static void test_beyond_the_end(void **state)
{
	struct trace_request q;
	struct slice context;
	struct ipf_error err = {0};
	(void)state;
	write_trace(2, 2);
	struct trace_cursor *p = open_picker();
	assert_int_equal(trace_cursor_count(p), IPF_ABSENT);
	assert_gets(p, 4, 2, 2);
	assert_int_equal(trace_cursor_get(p, 5, &q, &context, &err), 0);
	assert_int_equal(trace_cursor_count(p), 5);
	assert_false(trace_cursor_cut(p));
	for (int i = 0; i < 2; i++) {
		assert_gets(p, 4, 2, 2);
		assert_gets(p, 1, 2, 2);
		assert_int_equal(trace_cursor_get(p, 100, &q, &context, &err), 0);
	}
	trace_cursor_close(p);
}

static void test_a_cut_trace(void **state)
{
	struct trace_request q;
	struct slice context;
	struct ipf_error err = {0};
	(void)state;
	write_trace(2, 2);
	FILE *f = fopen(path, "r+");
	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	assert_int_equal(ftruncate(fileno(f), ftell(f) - 120), 0);
	fclose(f);
	struct trace_cursor *p = open_picker();
	for (int i = 0; i < 2; i++) {
		for (int64_t k = 0; k < 4; k++)
			assert_gets(p, k, 2, 2);
		assert_int_equal(trace_cursor_get(p, 4, &q, &context, &err), 0);
		assert_true(trace_cursor_cut(p));
		assert_int_equal(trace_cursor_count(p), 4);
	}
	trace_cursor_close(p);
}

/* The picker's choice for a copy. */
static void assert_copy(struct trace_cursor *p, int64_t index, const char *id, const char *session,
                        const char *messages, const char *prompt)
{
	struct ipf_error err = {0};
	struct trace_request q;
	struct slice context;
	if (trace_cursor_get(p, index, &q, &context, &err) != 1)
		fail_msg("%lld: %s", (long long)index, err.text);
	assert_true(slice_is(q.id, id));
	assert_true(session ? slice_is(q.session, session) : !q.session.data);
	assert_true(messages ? slice_is(q.messages, messages) : !q.messages.data);
	assert_true(prompt ? slice_is(q.prompt, prompt) : !q.prompt.data);
	if (index == 1)
		assert_true(slice_is(
			context, "{\"role\":\"user\",\"content\":\"07 q0.0\"},{\"role\":\"assistant\",\"content\":\"a0.0\"}"));
}

/* The mark stands once in a conversation, at its beginning, also where requests were passed and are asked for again. */
static void test_copies_begin_differently(void **state)
{
	struct ipf_error err = {0};
	struct trace_cursor *p;
	(void)state;
	write_trace(2, 2);
	assert_int_equal(trace_cursor_open(&p, path, 7, &err), 0);
	for (int round = 0; round < 2; round++) {
		assert_copy(p, 4, "\"alone-copy07\"", NULL, NULL, "\"07 p\"");
		assert_copy(p, 0, "\"0.0-copy07\"", "\"s0-copy07\"", "[{\"role\":\"user\",\"content\":\"07 q0.0\"}]", NULL);
		assert_copy(p, 1, "\"0.1-copy07\"", "\"s0-copy07\"", "[{\"role\":\"user\",\"content\":\"q0.1\"}]", NULL);
	}
	trace_cursor_close(p);
}

static void test_the_mark_follows_the_requests(void **state)
{
	static const struct {
		const char *messages, *marked;
	} cases[] = {
		{"[{\"content\":\"\"},{\"content\":\"b\"}]", "[{\"content\":\"\"},{\"content\":\"63 b\"}]"},
		{"[{\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"u\"}},{\"type\":\"text\",\"text\":\"\\u00e9\"}]}]",
	     "[{\"content\":[{\"type\":\"image_url\",\"image_url\":{\"url\":\"u\"}},{\"type\":\"text\",\"text\":\"63 \\u00e9\"}]}]"},
		{"[{\"content\":null},{\"content\":7}]", "[{\"content\":null},{\"content\":7}]"},
		{"[]", "[]"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ipf_error err = {0};
		struct request_copier c = {.copy = 63};
		struct trace_request q;
		trace_request_init(&q);
		q.messages = slice_of(cases[i].messages);
		assert_int_equal(request_copier_name(&c, &q, &err) | request_copier_mark(&c, &q, &err), 0);
		if (!slice_is(q.messages, cases[i].marked))
			fail_msg("%s became %.*s", cases[i].messages, (int)q.messages.len, q.messages.data);
		request_copier_release(&c);
	}
}

int main(void)
{
	int fd = mkstemp(path);
	if (fd < 0)
		return 1;
	close(fd);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copies_begin_differently),
		cmocka_unit_test(test_the_mark_follows_the_requests),
		cmocka_unit_test(test_requests_come_in_order_and_go_round),
		cmocka_unit_test(test_a_request_may_be_read_twice),
		cmocka_unit_test(test_sessions_side_by_side),
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_beyond_the_end),
		cmocka_unit_test(test_a_cut_trace),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return failed;
}
