/* Windows: written and read back, added up, and the set of them within a limit of memory. */
#include "unit.h"

#include "absent.h"
#include "series/series.h"

#define SECOND INT64_C(1000000000)

static struct window *parse(const char *text, struct ipf_error *err)
{
	struct jdoc doc = {0};
	assert_int_equal(jdoc_parse(&doc, text, strlen(text), err), 0);
	struct window *w = window_read(&doc, JDOC_ROOT, err);
	jdoc_release(&doc);
	return w;
}

static void assert_line(const struct window *w, const char *expected)
{
	struct buffer line = {0};
	window_write(w, &line);
	assert_string_equal(line.data, expected);
	buffer_release(&line);
}

/* Every member, with histograms of values whose buckets are easily computed: 40 is in bucket 40; 1000 is in bucket 317,
 * which begins at (64 + 317 mod 64) * 2^(317 / 64 - 1) = 125 * 8. */
static const char all_members[] =
	"{\"window\":-2,\"t_ns\":-2000000000,\"length_ns\":1000000000,\"stage\":3,\"scheduled\":1,\"started\":2,\"ok\":3,"
	"\"failed\":{\"connect\":1,\"timeout\":4},\"hung_up\":5,\"in_flight_ns\":6,\"slot_wait_ns\":7,\"pool_wait_ns\":8,"
	"\"input_tokens\":9,\"output_tokens\":10,\"failed_output_tokens\":11,\"events\":12,"
	"\"ttft_ns\":{\"count\":1,\"min\":40,\"max\":40,\"sum\":40,\"buckets\":[[40,1]]},"
	"\"itl_ns\":{\"count\":3,\"min\":40,\"max\":1000,\"sum\":2040,\"buckets\":[[40,1],[317,2]]},"
	"\"e2e_ns\":{\"count\":1,\"min\":41,\"max\":41,\"sum\":41,\"buckets\":[[41,1]]},"
	"\"lag_ns\":{\"count\":1,\"min\":0,\"max\":0,\"sum\":0,\"buckets\":[[0,1]]}}";

static void members(void **state)
{
	(void)state;
	struct window *w = window_new(-2, 3, SECOND);
	w->scheduled = 1;
	w->started = 2;
	w->ok = 3;
	window_fail(w, slice_of("timeout"), 4);
	window_fail(w, slice_of("connect"), 1);
	w->hung_up = 5;
	w->in_flight_ns = 6;
	w->slot_wait_ns = 7;
	w->pool_wait_ns = 8;
	w->input_tokens = 9;
	w->output_tokens = 10;
	w->failed_output_tokens = 11;
	w->events = 12;
	window_sample(&w->ttft_ns, 40, 1);
	window_sample(&w->itl_ns, 1000, 2);
	window_sample(&w->itl_ns, 40, 1);
	window_sample(&w->e2e_ns, 41, 1);
	window_sample(&w->lag_ns, -7, 1); /* a clock that went back: as 0 */
	assert_line(w, all_members);
	assert_int_equal(window_begin_ns(w), -2 * SECOND);
	assert_int_equal(window_failed(w), 5);

	struct ipf_error err = {0};
	struct window *again = parse(all_members, &err);
	assert_non_null(again);
	assert_line(again, all_members);
	window_merge(again, w);
	assert_int_equal(again->hung_up, 10);
	assert_int_equal(again->failures[1].count, 8);
	assert_int_equal(histogram_count(again->itl_ns), 6);
	window_free(again);
	window_free(w);
	w = window_new(0, 0, SECOND);
	assert_line(w, "{\"window\":0,\"t_ns\":0,\"length_ns\":1000000000,\"stage\":0}");
	window_free(w);
	window_free(NULL);
}

static void saturates(void **state)
{
	(void)state;
	struct window *a = window_new(0, 0, SECOND), *b = window_new(0, 0, SECOND);
	a->events = INT64_MAX - 1;
	b->events = 2;
	window_fail(a, slice_of("reset"), INT64_MAX);
	window_fail(b, slice_of("reset"), 1);
	window_fail(b, slice_of("not a kind"), 1);
	window_fail(b, slice_of("sixteen-letters-"), 1);
	window_fail(b, slice_of(""), 1);
	assert_int_equal(b->failures_count, 1);
	window_merge(a, b);
	assert_true(a->events == INT64_MAX && a->failures[0].count == INT64_MAX);
	window_free(a);
	window_free(b);
}

static void reading(void **state)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{"[]", "window: missing"},
		{"{}", "window: missing"},
		{"{\"window\":0}", "t_ns: missing"},
		{"{\"window\":0,\"t_ns\":0}", "length_ns: missing"},
		{"{\"window\":0,\"t_ns\":0,\"length_ns\":5}", "stage: missing"},
		{"{\"window\":0,\"t_ns\":0,\"length_ns\":0,\"stage\":0}", "length_ns: expected a time above 0, got 0"},
		{"{\"window\":0,\"t_ns\":0,\"length_ns\":-5,\"stage\":0}", "length_ns: "},
		{"{\"window\":0,\"t_ns\":0,\"length_ns\":5,\"stage\":-1}", "stage: "},
		{"{\"window\":\"0\",\"t_ns\":0,\"length_ns\":5,\"stage\":0}", "window: "},
		{"{\"window\":2,\"t_ns\":9,\"length_ns\":5,\"stage\":0}", "t_ns: expected window * length_ns, got 9"},
		{"{\"window\":9223372036854775807,\"t_ns\":0,\"length_ns\":5,\"stage\":0}", "t_ns: "},
		{"{\"window\":2,\"t_ns\":10,\"length_ns\":5,\"stage\":0,\"started\":-1}", "started: "},
		{"{\"window\":2,\"t_ns\":10,\"length_ns\":5,\"stage\":0,\"events\":1.5}", "events: "},
		{"{\"window\":2,\"t_ns\":10,\"length_ns\":5,\"stage\":0,\"failed\":3}", "failed: "},
		{"{\"window\":2,\"t_ns\":10,\"length_ns\":5,\"stage\":0,\"failed\":{\"reset\":-3}}", "failed: "},
		{"{\"window\":2,\"t_ns\":10,\"length_ns\":5,\"stage\":0,\"failed\":{\"re\\u001bset\":3}}", "failed: "},
		{"{\"window\":2,\"t_ns\":10,\"length_ns\":5,\"stage\":0,\"failed\":{\"\":3}}", "failed: "},
		{"{\"window\":2,\"t_ns\":10,\"length_ns\":5,\"stage\":0,\"failed\":{\"sixteen-letters-\":3}}", "failed: "},
		{"{\"window\":2,\"t_ns\":10,\"length_ns\":5,\"stage\":0,\"ttft_ns\":{}}", "ttft_ns: "},
		{"{\"window\":2,\"t_ns\":10,\"length_ns\":5,\"stage\":0,\"lag_ns\":{\"count\":0,\"sum\":0,\"buckets\":[]}}",
	     "lag_ns: expected a histogram with values"},
		{"{\"window\":2,\"t_ns\":10,\"length_ns\":5,\"stage\":0,"
	     "\"e2e_ns\":{\"count\":1,\"min\":9,\"max\":9,\"sum\":9,\"buckets\":[[3712,1]]}}",
	     "e2e_ns: buckets: "},
	};
	(void)state;
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct ipf_error err = {0};
		if (parse(bad[i].text, &err) || err.kind != IPF_INPUT || !strstr(err.text, bad[i].message))
			fail_msg("%s: got \"%s\"", bad[i].text, err.text);
	}
	struct ipf_error err = {0};
	struct window *w = parse("{\"window\":2,\"t_ns\":10,\"length_ns\":5,\"stage\":0,\"new\":[1],\"ok\":null,"
	                         "\"failed\":{\"reset\":0,\"new-kind\":2}}",
	                         &err);
	assert_line(w, "{\"window\":2,\"t_ns\":10,\"length_ns\":5,\"stage\":0,\"failed\":{\"new-kind\":2}}");
	window_free(w);
}

/* ---- the set ---- */

static void text_of(struct series *s, struct buffer *out)
{
	struct buffer line = {0};
	buffer_clear(out);
	while (series_take(s, &line)) {
		buffer_slice(out, buffer_all(&line));
		buffer_byte(out, '\n');
	}
	assert_int_equal(series_count(s), 0);
	assert_int_equal(series_memory(s), 0);
	buffer_release(&line);
}

static void windows_are_in_order(void **state)
{
	static const struct {
		int64_t t_ns, stage;
	} times[] = {{-1, 0}, {-SECOND, 1}, {5 * SECOND, 0}, {0, 1}, {SECOND - 1, 0}, {-SECOND - 1, 0}, {-1, 0}};
	struct series *s = series_new(SECOND, 0);
	struct buffer text = {0};
	(void)state;
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		series_at(s, times[i].t_ns, times[i].stage)->started++;
	assert_int_equal(series_count(s), 6);
	static const int64_t expected[][3] = {{-2, 0, 1}, {-1, 0, 2}, {-1, 1, 1}, {0, 0, 1}, {0, 1, 1}, {5, 0, 1}};
	for (size_t i = 0; i < 6; i++) {
		const struct window *w = series_get(s, i);
		assert_int_equal(w->number, expected[i][0]);
		assert_int_equal(w->stage, expected[i][1]);
		assert_int_equal(w->started, expected[i][2]);
	}
	assert_null(series_get(s, 6));
	struct window *sum = series_total(s, 0);
	assert_int_equal(sum->started, 5);
	window_free(sum);
	sum = series_total(s, IPF_ABSENT);
	assert_int_equal(sum->started, 7);
	window_free(sum);
	series_at(s, INT64_MAX, 0)->started++;
	series_at(s, INT64_MIN, 0)->started++;
	assert_int_equal(series_get(s, 7)->number, (INT64_C(1) << 62) / SECOND);
	text_of(s, &text);
	assert_ptr_equal(strstr(text.data, "{\"window\":-4611686019,"), text.data);
	buffer_release(&text);
	series_free(s);
	series_free(NULL);
}

/* One thing that happens to a request at a random time. */
static void happen(struct series *s, uint64_t *seed)
{
	static const char *const kinds[] = {"timeout", "reset", "cut"};
	struct window *w = series_at(s, (int64_t)(test_random(seed) % (50 * SECOND)) - 5 * SECOND, test_random(seed) % 2);
	int64_t n = (int64_t)(test_random(seed) % 1000),
			value = (int64_t)(test_random(seed) >> (test_random(seed) % 60 + 4));
	assert_non_null(w);
	switch (test_random(seed) % 8) {
	case 0:
		window_count(&w->output_tokens, n);
		break;
	case 1:
		window_count(&w->in_flight_ns, n);
		break;
	case 2:
		window_fail(w, slice_of(kinds[n % 3]), 1);
		break;
	case 3:
		window_sample(&w->ttft_ns, value, 1);
		break;
	case 4:
		window_sample(&w->lag_ns, value, 1);
		break;
	default:
		window_sample(&w->itl_ns, value, 1 + n % 3);
	}
}

enum { PARTS = 8, HAPPENINGS = 20000 };

/* The same happenings in one set, and divided among several: written, read and added up, they give the same bytes. */
static void partitions(void **state)
{
	uint64_t seed = test_seed("partitions");
	struct series *whole = series_new(SECOND, 0), *merged = series_new(SECOND, 0), *parts[PARTS];
	struct buffer line = {0}, one = {0}, other = {0};
	struct ipf_error err = {0};
	(void)state;
	for (int i = 0; i < PARTS; i++)
		parts[i] = series_new(SECOND, 0);
	for (int i = 0; i < HAPPENINGS; i++) {
		uint64_t same = seed;
		happen(whole, &same);
		same = seed;
		happen(parts[i * 7919 % 8191 % PARTS], &same);
		test_random(&seed);
	}
	for (int i = 0; i < PARTS; i++) {
		while (series_take(parts[i], &line))
			assert_int_equal(series_read(merged, buffer_all(&line), 0, &err), 0);
		series_free(parts[i]);
	}
	text_of(whole, &one);
	text_of(merged, &other);
	assert_true(one.len > 10000);
	assert_string_equal(one.data, other.data);
	buffer_release(&line);
	buffer_release(&one);
	buffer_release(&other);
	series_free(whole);
	series_free(merged);
}

/* With little memory, windows are written early and several times: read again, they add up to the same. */
static void spilling(void **state)
{
	uint64_t seed = test_seed("spilling"), same;
	const size_t limit = 100000;
	struct series *whole = series_new(SECOND, 0), *tight = series_new(SECOND, limit), *merged = series_new(SECOND, 0);
	struct buffer line = {0}, one = {0}, other = {0};
	struct ipf_error err = {0};
	int lines = 0;
	(void)state;
	for (int i = 0; i < HAPPENINGS; i++) {
		same = seed;
		happen(whole, &same);
		happen(tight, &seed);
		for (; series_spill(tight, &line); lines++)
			assert_int_equal(series_read(merged, buffer_all(&line), 0, &err), 0);
		assert_true(series_memory(tight) <= limit);
	}
	for (; series_take(tight, &line); lines++)
		assert_int_equal(series_read(merged, buffer_all(&line), 0, &err), 0);
	assert_true((size_t)lines > series_count(whole) + 100);
	text_of(whole, &one);
	text_of(merged, &other);
	assert_string_equal(one.data, other.data);
	buffer_release(&line);
	buffer_release(&one);
	buffer_release(&other);
	series_free(whole);
	series_free(tight);
	series_free(merged);
}

/* Read into longer windows: the same as if they had been that long from the beginning. */
static void coarser(void **state)
{
	uint64_t seed = test_seed("coarser"), same;
	struct series *fine = series_new(SECOND, 0), *direct = series_new(10 * SECOND, 0),
				  *read = series_new(10 * SECOND, 0);
	struct buffer line = {0}, one = {0}, other = {0};
	struct ipf_error err = {0};
	(void)state;
	for (int i = 0; i < HAPPENINGS; i++) {
		same = seed;
		happen(fine, &same);
		happen(direct, &seed);
	}
	while (series_take(fine, &line))
		assert_int_equal(series_read(read, buffer_all(&line), 0, &err), 0);
	text_of(direct, &one);
	text_of(read, &other);
	assert_string_equal(one.data, other.data);
	buffer_clear(&line);
	buffer_text(&line, "{\"window\":3,\"t_ns\":3000000000,\"length_ns\":1000000000,\"stage\":0,\"started\":1}");
	assert_int_equal(series_read(read, buffer_all(&line), 8 * SECOND, &err), 0);
	assert_int_equal(series_read(read, buffer_all(&line), -4 * SECOND, &err), 0);
	assert_int_equal(series_get(read, 0)->number, -1);
	assert_int_equal(series_get(read, 1)->number, 1);
	assert_int_equal(series_read(read, slice_of("{"), 0, &err), -1);
	buffer_release(&line);
	buffer_release(&one);
	buffer_release(&other);
	series_free(fine);
	series_free(direct);
	series_free(read);
}

/* A window of which nothing is known but a count costs little, and there may be many. */
static void many(void **state)
{
	struct series *s = series_new(SECOND / 10, 0);
	struct buffer line = {0};
	(void)state;
	for (int64_t i = 0; i < 864000; i++)
		series_at(s, i * SECOND / 10, 0)->started++;
	assert_int_equal(series_count(s), 864000);
	assert_true(series_memory(s) < 864000 * 256);
	for (int64_t i = 0; i < 864000; i++) {
		assert_true(series_take(s, &line));
		char expected[32];
		snprintf(expected, sizeof expected, "{\"window\":%lld,", (long long)i);
		assert_int_equal(strncmp(line.data, expected, strlen(expected)), 0);
	}
	assert_false(series_take(s, &line));
	buffer_release(&line);
	series_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members),    cmocka_unit_test(saturates),
		cmocka_unit_test(reading),    cmocka_unit_test(windows_are_in_order),
		cmocka_unit_test(partitions), cmocka_unit_test(spilling),
		cmocka_unit_test(coarser),    cmocka_unit_test(many),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
