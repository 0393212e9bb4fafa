/* Requests as other tools see them: all events of a line, those counting for a tool, and the rules' results.
 */
#include "unit.h"

#include "absent.h"
#include "other_tools/seen_request.h"

#include <math.h>

static const struct row row = {.ok = true, .error = -1, .start_ns = 1000};

/* A row without columns, and this line. */
static void see(struct seen_request *seen, const char *line)
{
	static const struct row_columns none;
	static struct jdoc doc;
	struct row bare = row;
	struct ipf_error err = {0};
	struct result result;
	bare.columns = &none;
	assert_int_equal(result_parse(&doc, slice_of(line), &result, &err), 0);
	seen_request_read(seen, &bare, &result);
	jdoc_release(&doc);
}

#define LINE(lists) "{\"n\":0,\"stage\":0,\"ok\":true," lists "}"

static void every_event_is_read(void **state)
{
	(void)state;
	struct seen_request seen = {0};
	struct seen_chunks chunks = {0};
	see(&seen,
	    LINE("\"event_ns\":[1300,1400,1700],\"event_tokens\":[1,4,2],\"event_kinds\":[\"reasoning\",\"tool\",\"text\"],"
	         "\"other_ns\":[1200,1500,1700,1800,1900],"
	         "\"other_kinds\":[\"role\",\"empty\",\"usage\",\"end\",\"close\"]"));
	assert_true(seen.complete);
	assert_true(seen.outcome.closed);
	assert_true(seen.outcome.end_mark);
	assert_int_equal(seen.count, 7);
	assert_true(seen.times.event == 800);
	seen_request_chunks(&chunks, &seen, &tool_rules[TOOL_VLLM]);
	assert_int_equal(chunks.count, 4);
	assert_true(isnan(chunks.times.first)); /* the row has no time of a first token: its answer came in one piece */
	assert_true(chunks.times.last == 700);
	assert_int_equal(chunks.list[1].tokens, 4);
	seen_request_chunks(&chunks, &seen, &tool_rules[TOOL_SGLANG]);
	assert_int_equal(chunks.count, 2);
	seen_request_chunks(&chunks, &seen, &tool_rules[TOOL_INFERENCE_PERF]);
	assert_int_equal(chunks.count, 1);
	seen_request_chunks(&chunks, &seen, &tool_rules[TOOL_LPG]);
	assert_int_equal(chunks.count, 7);
	seen_request_release(&seen);
	seen_chunks_release(&chunks);
}

/* Lists that do not belong together, kinds that nobody knows. */
static void odd_lists_are_survived(void **state)
{
	(void)state;
	static const char *const lines[] = {
		LINE("\"event_ns\":[],\"other_ns\":[],\"other_kinds\":[]"),
		LINE("\"event_ns\":[1,2],\"event_tokens\":[1],\"other_ns\":[5,6,7],\"other_kinds\":[\"end\"]"),
		LINE("\"event_ns\":[1],\"event_kinds\":[],\"other_ns\":[5],\"other_kinds\":[\"nosuch\",\"end\"]"),
		LINE("\"event_ns\":[1],\"event_kinds\":[\"end\"],\"other_ns\":[5],\"other_kinds\":[\"text\"]"),
		LINE("\"event_ns\":[1],\"other_ns\":[5],\"other_kinds\":[3,\"\",[\"end\"]]"),
		LINE("\"event_ns\":[1],\"event_tokens\":[null],\"other_ns\":[],\"other_kinds\":[]"),
		LINE("\"event_ns\":[1],\"other_ns\":[2]"),
	};
	static const size_t counts[] = {0, 3, 1, 1, 1, 1, 0};
	struct seen_request seen = {0};
	struct seen_chunks chunks = {0};
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		see(&seen, lines[i]);
		assert_int_equal(seen.count, counts[i]);
		for (int tool = 0; tool < TOOL_COUNT; tool++)
			seen_request_chunks(&chunks, &seen, &tool_rules[tool]);
	}
	seen_request_release(&seen);
	seen_chunks_release(&chunks);
}

static void rules_are_applied(void **state)
{
	(void)state;
	const struct tool_times t = {.first = 100, .last = 400, .event = 500, .end = 600, .chunks = 3};
	assert_true(tool_e2e(&tool_rules[TOOL_VLLM], &t) == 400);
	assert_true(tool_e2e(&tool_rules[TOOL_SGLANG], &t) == 500);
	assert_true(tool_e2e(&tool_rules[TOOL_LPG], &t) == 600);
	assert_true(tool_tpot(&tool_rules[TOOL_VLLM], &t, 4) == 100);
	assert_true(isnan(tool_tpot(&tool_rules[TOOL_VLLM], &t, 1)));
	assert_true(tool_tpot(&tool_rules[TOOL_SGLANG], &t, 5) == 100);
	assert_true(tool_tpot(&tool_rules[TOOL_GUIDELLM], &t, 4) == 100);
	assert_true(tool_tpot(&tool_rules[TOOL_LPG], &t, 6) == 100);
	assert_true(isnan(tool_tpot(&tool_rules[TOOL_AIPERF], &t, 4)));
	const struct tool_times one = {.first = 100, .last = 100, .event = 500, .end = 600, .chunks = 1};
	assert_true(isnan(tool_ttft(&tool_rules[TOOL_INFERENCE_PERF], &one)));
	assert_true(tool_ttft(&tool_rules[TOOL_VLLM], &one) == 100);
}

static void tokens_have_an_order(void **state)
{
	(void)state;
	struct tool_counts counts = {.usage = 7, .tokenizer = 8, .asked = 9, .chunks = 3};
	enum tool_tokens source;
	assert_int_equal(tool_output_tokens(&tool_rules[TOOL_VLLM], &counts, &source), 7);
	assert_int_equal(tool_output_tokens(&tool_rules[TOOL_AIPERF], &counts, NULL), 8);
	counts.usage = 0;
	assert_int_equal(tool_output_tokens(&tool_rules[TOOL_VLLM], &counts, &source), 8);
	assert_int_equal(source, TOOL_TOKENS_TOKENIZER);
	assert_int_equal(tool_output_tokens(&tool_rules[TOOL_SGLANG], &counts, NULL), 0);
	assert_int_equal(tool_output_tokens(&tool_rules[TOOL_GUIDELLM], &counts, NULL), 3);
	counts.usage = counts.tokenizer = IPF_ABSENT;
	assert_int_equal(tool_output_tokens(&tool_rules[TOOL_VLLM], &counts, NULL), 3); /* its tokenizer is not there */
	assert_int_equal(tool_output_tokens(&tool_rules[TOOL_AIPERF], &counts, &source), 3);
	assert_int_equal(source, TOOL_TOKENS_CHUNKS);
	counts.chunks = counts.asked = IPF_ABSENT;
	assert_int_equal(tool_output_tokens(&tool_rules[TOOL_AIPERF], &counts, &source), IPF_ABSENT);
	assert_int_equal(source, TOOL_TOKENS_NONE);
}

static void times_per_token_are_whole(void **state)
{
	(void)state;
	const struct tool_times t = {.first = 100, .last = 399, .event = 500, .end = 599, .chunks = 3};
	const struct tool_times one = {.first = 100, .last = 100, .event = 500, .end = 600, .chunks = 1};
	assert_true(tool_request_itl(&tool_rules[TOOL_AIPERF], &t, 3) == 149.5);
	assert_true(tool_request_itl(&tool_rules[TOOL_GENAI_PERF], &t, 3) == 150);
	assert_true(tool_tpot(&tool_rules[TOOL_MLPERF], &t, 3) == 249);
	assert_true(tool_request_itl(&tool_rules[TOOL_AIPERF], &one, 3) == 0);
	assert_true(isnan(tool_request_itl(&tool_rules[TOOL_GENAI_PERF], &one, 3)));
}

static void percentiles_differ(void **state)
{
	(void)state;
	struct samples s = {0};
	for (int i = 1; i <= 10; i++)
		samples_add(&s, i);
	assert_true(tool_percentile(&tool_rules[TOOL_VLLM], &s, 50) == 5.5);
	assert_true(tool_percentile(&tool_rules[TOOL_MLPERF], &s, 50) == 6);
	assert_true(tool_percentile(&tool_rules[TOOL_MLPERF], &s, 100) == 10);
	samples_release(&s);
	assert_true(isnan(tool_percentile(&tool_rules[TOOL_MLPERF], &s, 50)));
}

static void failures_differ(void **state)
{
	(void)state;
	struct tool_outcome error = {.error = true, .closed = true, .chunks = 3};
	assert_true(tool_success(&tool_rules[TOOL_VLLM], &error));
	assert_false(tool_success(&tool_rules[TOOL_GUIDELLM], &error));
	error.chunks = 0;
	assert_false(tool_success(&tool_rules[TOOL_VLLM], &error));
	assert_true(tool_success(&tool_rules[TOOL_SGLANG], &error));
	error.closed = false;
	assert_false(tool_success(&tool_rules[TOOL_SGLANG], &error));
	struct tool_outcome cut = {.incomplete = true, .closed = true, .chunks = 3};
	assert_true(tool_success(&tool_rules[TOOL_AIPERF], &cut));
	assert_false(tool_success(&tool_rules[TOOL_MLPERF], &cut));
	struct tool_outcome status = {.closed = true, .chunks = 0};
	for (int i = 0; i < TOOL_COUNT; i++)
		assert_false(tool_success(&tool_rules[i], &status));
}

static void every_row_is_filled(void **state)
{
	(void)state;
	for (int i = 0; i < TOOL_COUNT; i++) {
		const struct tool_rules *r = &tool_rules[i];
		assert_string_equal(r->name, tool_names[i]);
		assert_ptr_equal(tool_rules_find(slice_of(r->name)), r);
		assert_true(r->tool && r->version && r->source && r->chunks && r->tokens[0]);
		for (int k = 0; k < TOOL_FIGURES; k++)
			assert_non_null(r->figures[k].rule);
		assert_true((r->tpot == TOOL_TPOT_NONE) == (r->figures[TOOL_TPOT].name == NULL));
		assert_true((r->itl == TOOL_ITL_NONE) == (r->figures[TOOL_ITL].name == NULL));
	}
	assert_null(tool_names[TOOL_COUNT]);
	assert_null(tool_rules_find(slice_of("nosuch")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_is_read),       cmocka_unit_test(odd_lists_are_survived),
		cmocka_unit_test(rules_are_applied),         cmocka_unit_test(tokens_have_an_order),
		cmocka_unit_test(times_per_token_are_whole), cmocka_unit_test(percentiles_differ),
		cmocka_unit_test(failures_differ),           cmocka_unit_test(every_row_is_filled),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
