/* A run as another tool would have seen it: which answers are successes, where latencies end, gaps, tokens, failures.
 */
#include "unit.h"

#include "absent.h"
#include "other_tools/tool_view.h"
#include "exports/row_values.h"

#include <math.h>

static const char *const lines[] = {
	/* an empty chunk at 1200, text at 1300 and 1500, the end mark at 1600, the connection's end at 1700 */
	"{\"n\":0,\"stage\":0,\"ok\":true,\"start_ns\":1000,\"end_ns\":1700,\"ttft_ns\":300,\"e2e_ns\":500,\"stream_ns\":700,"
	"\"events\":2,\"output_tokens\":3,\"output_tokens_usage\":3,\"output_tokens_tokenizer\":5,\"input_tokens\":4,\"input_tokens_tokenizer\":6,\"due_ns\":900,"
	"\"event_ns\":[1300,1500],\"event_tokens\":[2,1],\"other_ns\":[1200,1600,1700],\"other_kinds\":[\"empty\",\"end\","
	"\"close\"]}",
	/* an error in the stream after two chunks */
	"{\"n\":1,\"stage\":0,\"ok\":false,\"start_ns\":2000,\"end_ns\":2500,\"ttft_ns\":100,\"e2e_ns\":200,\"stream_ns\":500,"
	"\"events\":2,\"error\":{\"kind\":\"in-band\",\"text\":\"died\"},\"status\":200,\"event_ns\":[2100,2200],"
	"\"other_ns\":[2400,2500],\"other_kinds\":[\"end\",\"close\"]}",
};

struct fixture {
	struct schedule_stage stages[1];
	struct row rows[2];
	int64_t places[2];
	struct run_part parts[1];
	struct run_data run;
	struct tool_view view;
};

static void fill(struct fixture *f, const struct tool_rules *rules)
{
	static struct jdoc doc;
	struct ipf_error err = {0};
	*f = (struct fixture){.stages = {{.name = "a", .kind = "poisson", .rate = 2, .measured = true}}};
	f->run = (struct run_data){.rows = f->rows,
	                           .row_count = 2,
	                           .parts = f->parts,
	                           .part_count = 1,
	                           .schedule = {.stages = f->stages, .count = 1}};
	f->run.lines = row_lines_new(&err);
	assert_non_null(f->run.lines);
	f->run.line_places = f->places;
	for (int i = 0; i < 2; i++) {
		struct result result;
		assert_int_equal(result_parse(&doc, slice_of(lines[i]), &result, &err), 0);
		f->places[i] = row_lines_add(f->run.lines, slice_of(lines[i]));
		f->rows[i] = (struct row){.columns = &f->run.columns,
		                          .at = i,
		                          .error = -1,
		                          .ok = result.ok,
		                          .due_ns = result.due_ns,
		                          .start_ns = result.start_ns,
		                          .end_ns = result.end_ns};
		for (int k = 0; k < VERDICT_KINDS && !result.ok; k++)
			if (strcmp(verdict_kinds[k], "in-band") == 0)
				f->rows[i].error = (int8_t)k;
		assert_int_equal(row_columns_add(&f->run.columns, i, &result, &err), 0);
	}
	jdoc_release(&doc);
	assert_int_equal(tool_view_build(&f->view, &f->run, rules, &err), 0);
}

static void empty(struct fixture *f)
{
	tool_view_release(&f->view);
	row_columns_release(&f->run.columns);
	row_lines_free(f->run.lines);
}

static void tools_see_chunks_of_their_own(void **state)
{
	static const struct {
		enum tool tool;
		bool second; /* is the error in the stream forgiven? */
		double ttft, e2e, tpot, itl, output;
		int64_t gaps;
	} want[] = {
		{TOOL_VLLM, true, 200, 500, 150, 150, 3, 3},         {TOOL_VLLM_RS, true, 200, 500, 150, 150, 3, 3},
		{TOOL_SGLANG, true, 300, 600, 150, 100, 3, 2},       {TOOL_GUIDELLM, false, 300, 600, 500.0 / 3, 100, 3, 1},
		{TOOL_AIPERF, true, 300, 500, NAN, 50, 5, 2},        {TOOL_GENAI_PERF, false, 300, 500, NAN, 50, 5, 1},
		{TOOL_INFERENCE_PERF, true, 300, 700, 50, 50, 5, 3}, {TOOL_LPG, false, 200, 700, 140, NAN, 5, 3},
		{TOOL_MLPERF, false, 400, 800, 200, NAN, 3, 1}};
	(void)state;
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		struct fixture f;
		fill(&f, &tool_rules[want[i].tool]);
		const struct row *row = &f.view.run.rows[0];
		print_message("%s\n", tool_rules[want[i].tool].name);
		assert_true(row->ok);
		assert_int_equal(f.view.run.rows[1].ok, want[i].second);
		assert_true(row_ttft(row) == want[i].ttft);
		assert_true(row_e2e(row) == want[i].e2e);
		assert_true(isnan(want[i].tpot) ? isnan(row_tpot(row)) : fabs(row_tpot(row) - want[i].tpot) < 1e-9);
		assert_true(isnan(want[i].itl) || row_itl(row) == want[i].itl);
		assert_true(row_output(row) == want[i].output);
		bool counts = tool_rules[want[i].tool].tokens[0] == TOOL_TOKENS_TOKENIZER;
		assert_true(row_input(row) == (counts ? 6 : 4));
		assert_int_equal(histogram_count(run_data_gaps(&f.view.run, 0, -1)), want[i].gaps);
		assert_int_equal(f.view.run.failures.all, want[i].second ? 0 : 1);
		/* the run itself is as it was */
		assert_false(f.run.rows[1].ok);
		assert_true(row_ttft(&f.run.rows[0]) == 300 && row_output(&f.run.rows[0]) == 3);
		empty(&f);
	}
}

static void rows_are_used_if_there_are_no_lines(void **state)
{
	(void)state;
	struct fixture f;
	struct ipf_error err = {0};
	fill(&f, &tool_rules[TOOL_VLLM]);
	tool_view_release(&f.view);
	struct row_lines *lines_kept = f.run.lines;
	f.run.lines = NULL;
	assert_int_equal(tool_view_build(&f.view, &f.run, &tool_rules[TOOL_SGLANG], &err), 0);
	assert_true(row_ttft(&f.view.run.rows[0]) == 300);
	assert_true(row_e2e(&f.view.run.rows[0]) == 700); /* when the end mark came is not known */
	assert_false(f.view.run.rows[1].ok);
	assert_int_equal(histogram_count(run_data_gaps(&f.view.run, 0, -1)), 0);
	f.run.lines = lines_kept;
	empty(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tools_see_chunks_of_their_own),
		cmocka_unit_test(rows_are_used_if_there_are_no_lines),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
