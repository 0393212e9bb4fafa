/* The four stream formats: lines are read back as they were written, and errors name the field. */
#include "absent.h"
#include "stream/provenance.h"
#include "stream/record.h"
#include "stream/result.h"
#include "stream/schedule.h"
#include "stream/trace.h"
#include "unit.h"

#include <math.h>
#include <unistd.h>

static char path[] = "/tmp/ipf-formats-XXXXXX";
static struct ipf_error err;

static void put(const char *kind, const char *head, const struct buffer *lines, size_t count)
{
	struct stream_writer *w = NULL;
	struct provenance p = {.tool = "ipf-test", .reproducible = true};
	json_t *header = stream_header(kind, &p);
	if (head) {
		json_t *more = json_loads(head, 0, NULL);
		assert_non_null(more);
		json_object_update(header, more);
		json_decref(more);
	}
	ipf_error_clear(&err);
	assert_int_equal(stream_writer_open(&w, path, header, &err), 0);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(stream_writer_line(w, &lines[i], &err), 0);
	assert_int_equal(stream_writer_close(w, NULL, &err), 0);
	json_decref(header);
}

static void put_line(const char *kind, const char *head, const char *text)
{
	struct buffer line = {0};
	buffer_text(&line, text);
	put(kind, head, &line, 1);
	buffer_release(&line);
}

#define SLICE(text_) ((struct slice){text_, sizeof(text_) - 1})

static void trace_comes_back(void **state)
{
	(void)state;
	struct buffer line = {0};
	struct trace_reader *r = NULL;
	struct trace_request a, b;
	trace_request_init(&a);
	a.id = SLICE("\"c-1\"");
	a.messages = SLICE("[{\"role\":\"user\",\"content\":\"h\\u00e9\"}]");
	a.input_tokens = 12;
	a.at_ns = 0;
	a.session = SLICE("\"s\"");
	a.turn = 3;
	a.tags = SLICE("[\"x\"]");
	a.answer = SLICE("\"yes\"");
	a.context_session = true;
	trace_request_write(&a, &line);
	assert_string_equal(
		line.data,
		"{\"id\":\"c-1\",\"messages\":[{\"role\":\"user\",\"content\":\"h\\u00e9\"}],\"input_tokens\":12,\"at_ns\":0,"
		"\"session\":\"s\",\"turn\":3,\"answer\":\"yes\",\"tags\":[\"x\"],\"context\":\"session\"}");
	put("trace", NULL, &line, 1);
	assert_int_equal(trace_reader_open(&r, path, &err), 0);
	assert_int_equal(trace_reader_next(r, &b, &err), 1);
	assert_true(slice_equal(a.messages, b.messages) && slice_equal(a.tags, b.tags) && slice_equal(a.answer, b.answer));
	assert_int_equal(b.output_tokens, IPF_ABSENT);
	assert_int_equal(b.turn, 3);
	assert_true(b.context_session);
	assert_int_equal(trace_reader_next(r, &b, &err), 0);
	trace_reader_close(r);
	buffer_release(&line);
}

static void answers_of_token_ids_have_a_length(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		int64_t tokens;
	} cases[] = {{"{\"id\":\"a\",\"prompt_token_ids\":[1],\"answer_token_ids\":[7,8,9]}", 3},
	             {"{\"id\":\"a\",\"prompt_token_ids\":[1],\"answer_token_ids\":[]}", 0},
	             {"{\"id\":\"a\",\"prompt_token_ids\":[1]}", IPF_ABSENT}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jdoc doc = {0};
		struct trace_request request;
		struct ipf_error why = {0};
		assert_int_equal(trace_request_parse(&doc, slice_of(cases[i].line), false, &request, &why), 0);
		assert_int_equal(request.answer_tokens, cases[i].tokens);
		jdoc_release(&doc);
	}
}

static void inputs_come_back(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		int64_t count;
		bool texts;
	} cases[] = {{"{\"id\":\"a\",\"inputs\":[\"x\",\"\",\"y\"],\"query\":\"q\",\"input_tokens\":9}", 3, true},
	             {"{\"id\":\"a\",\"inputs\":[[1,2],[]]}", 2, false},
	             {"{\"id\":\"a\",\"prompt\":\"x\"}", IPF_ABSENT, false}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct jdoc doc = {0};
		struct buffer line = {0};
		struct trace_request request;
		struct ipf_error why = {0};
		assert_int_equal(trace_request_parse(&doc, slice_of(cases[i].line), false, &request, &why), 0);
		assert_int_equal(request.inputs_count, cases[i].count);
		assert_true(trace_inputs_are_texts(&request) == cases[i].texts);
		assert_int_equal(trace_refuse_inputs(&request, "no", &why), cases[i].count == IPF_ABSENT ? 0 : -1);
		trace_request_write(&request, &line);
		struct buffer again = {0};
		ipf_error_clear(&why);
		assert_int_equal(trace_request_parse(&doc, buffer_all(&line), false, &request, &why), 0);
		trace_request_write(&request, &again);
		assert_true(slice_equal(buffer_all(&line), buffer_all(&again)));
		jdoc_release(&doc);
		buffer_release(&line);
		buffer_release(&again);
	}
}

static void bad_requests_are_named(void **state)
{
	(void)state;
	static const struct {
		const char *line, *says;
	} cases[] = {
		{"{\"prompt\":\"x\"}", "id: missing"},
		{"{\"id\":\"a\"}", "messages, prompt, prompt_token_ids, inputs: expected one of them, got none"},
		{"{\"id\":\"a\",\"prompt\":\"x\",\"inputs\":[\"x\"]}", "expected one of them, got several"},
		{"{\"id\":\"a\",\"inputs\":\"x\"}", "inputs: expected"},
		{"{\"id\":\"a\",\"inputs\":[]}", "inputs: expected at least one text, got []"},
		{"{\"id\":\"a\",\"inputs\":[\"x\",1]}", "inputs: expected texts only, or lists of token ids only, got 1"},
		{"{\"id\":\"a\",\"inputs\":[\"x\",[1]]}", "inputs: expected texts only, or lists of token ids only, got [1]"},
		{"{\"id\":\"a\",\"inputs\":[null]}", "inputs: expected texts only, or lists of token ids only, got null"},
		{"{\"id\":\"a\",\"query\":\"q\",\"inputs\":[[1]]}", "inputs: expected texts, as there is a query, got [1]"},
		{"{\"id\":\"a\",\"query\":\"q\",\"prompt\":\"x\"}", "query: requires inputs"},
		{"{\"id\":\"a\",\"query\":1,\"inputs\":[\"x\"]}", "query: expected"},
		{"{\"id\":\"a\",\"session\":\"s\",\"inputs\":[\"x\"]}", "inputs: not allowed in a session"},
		{"{\"id\":\"a\",\"prompt\":\"x\",\"messages\":[]}", "expected one of them, got several"},
		{"{\"id\":7,\"prompt\":\"x\"}", "id: expected a string, got 7"},
		{"{\"id\":\"a\",\"prompt\":\"x\",\"output_tokens\":\"many\"}",
	     "output_tokens: expected a number of tokens from 0 to 2^40, got \"many\""},
		{"{\"id\":\"a\",\"prompt\":\"x\",\"output_tokens\":-1}",
	     "output_tokens: expected a number of tokens from 0 to 2^40, got -1"},
		{"{\"id\":\"a\",\"prompt\":\"x\",\"recorded_e2e_ns\":-1}", "recorded_e2e_ns: expected"},
		{"{\"id\":\"a\",\"prompt\":\"x\",\"recorded_ttft_ns\":\"1s\"}", "recorded_ttft_ns: expected"},
		{"{\"id\":\"a\",\"prompt\":\"x\",\"recorded_ttft_ns\":3,\"recorded_e2e_ns\":2}",
	     "recorded_ttft_ns: expected at most recorded_e2e_ns, 2, got 3"},
		{"{\"id\":\"a\",\"prompt\":\"x\",\"context\":\"all\"}", "context: expected \"session\", got \"all\""},
		{"{\"id\":\"a\",\"prompt\":\"x\",\"context\":\"session\"}",
	     "requires session, and messages or prompt_token_ids"},
		{"{\"id\":\"a\",\"session\":\"s\",\"context\":\"session\",\"prompt_token_ids\":[1],\"answer\":\"x\"}",
	     "answer: that of a turn of token ids is answer_token_ids"},
		{"{\"id\":\"a\",\"prompt\":\"x\",\"answer_token_ids\":[2]}", "answer_token_ids: requires prompt_token_ids"},
		{"{\"id\":\"a\",\"prompt\":\"x\"", "not JSON: unexpected end"},
		{"[]", "expected an object"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct trace_reader *r = NULL;
		struct trace_request request;
		put_line("trace", NULL, cases[i].line);
		assert_int_equal(trace_reader_open(&r, path, &err), 0);
		assert_int_equal(trace_reader_next(r, &request, &err), -1);
		if (!strstr(err.text, cases[i].says) || err.line != 2 || strcmp(err.file, path) != 0)
			fail_msg("case %zu: %s:%lld: %s", i, err.file, (long long)err.line, err.text);
		trace_reader_close(r);
	}
}

static char thinned[] = "thin";
static struct schedule_stage two_stages[2] = {
	{.name = "warm",
     .kind = "poisson",
     .spec = "poisson:rate=5,for=10s,warmup",
     .begin_ns = 0,
     .end_ns = 10,
     .slots = IPF_ABSENT,
     .arrivals = 1,
     .first_n = 0,
     .rate = 5,
     .by = thinned,
     .recorded_rate = 2.5,
     .copy = 3,
     .sent_before = 4,
     .measured = false},
	{.name = "closed",
     .kind = "closed",
     .spec = "closed:users=2,for=1s",
     .begin_ns = 10,
     .end_ns = 20,
     .slots = 2,
     .arrivals = 1,
     .first_n = 1,
     .rate = NAN,
     .closed = true,
     .cycle = true,
     .measured = true},
};

static void schedule_comes_back(void **state)
{
	(void)state;
	struct schedule_stage *stages = two_stages;
	struct schedule plan = {.stages = stages, .count = 2, .trace_requests = 4};
	memset(plan.trace_sha256, 'a', 64);
	json_t *header = json_object();
	assert_int_equal(schedule_to_header(&plan, header), 0);
	char *head = json_dumps(header, 0);
	const int64_t after[] = {0, 1};
	struct schedule_arrival arrivals[] = {
		{.n = 0, .at_ns = 7, .req = 0, .stage = 0, .wait_ns = IPF_ABSENT},
		{.n = 1, .at_ns = IPF_ABSENT, .req = 1, .stage = 1, .wait_ns = IPF_ABSENT},
		{.n = 5, .at_ns = IPF_ABSENT, .req = 3, .stage = 0, .after = after, .after_count = 2, .wait_ns = 9, .copy = 3},
	};
	struct buffer lines[3] = {0};
	for (int i = 0; i < 3; i++)
		schedule_arrival_write(&arrivals[i], &lines[i]);
	put("schedule", head, lines, 3);
	struct schedule_reader *r = NULL;
	assert_int_equal(schedule_reader_open(&r, path, &err), 0);
	const struct schedule *back = schedule_reader_header(r);
	assert_int_equal(back->count, 2);
	assert_string_equal(back->trace_sha256, plan.trace_sha256);
	assert_int_equal(back->trace_requests, 4);
	assert_string_equal(back->stages[0].spec, stages[0].spec);
	assert_true(back->stages[0].rate == 5 && isnan(back->stages[1].rate));
	assert_int_equal(back->stages[0].slots, IPF_ABSENT);
	assert_string_equal(back->stages[0].by, "thin");
	assert_true(back->stages[0].recorded_rate == 2.5 && back->stages[1].by[0] == '\0');
	assert_true(back->stages[0].copy == 3 && back->stages[0].sent_before == 4);
	assert_true(back->stages[1].copy == 0 && back->stages[1].sent_before == 0);
	assert_true(!back->stages[0].measured && back->stages[1].measured && back->stages[1].closed &&
	            back->stages[1].cycle);
	struct schedule_arrival a;
	assert_int_equal(schedule_reader_next(r, &a, &err), 1);
	assert_true(a.n == 0 && a.at_ns == 7 && a.after_count == 0 && a.wait_ns == IPF_ABSENT && a.copy == 0);
	assert_int_equal(schedule_reader_next(r, &a, &err), 1);
	assert_true(a.at_ns == IPF_ABSENT && a.stage == 1);
	assert_int_equal(schedule_reader_next(r, &a, &err), 1);
	assert_true(a.after_count == 2 && a.after[1] == 1 && a.wait_ns == 9 && a.copy == 3);
	assert_int_equal(schedule_reader_next(r, &a, &err), 0);
	schedule_reader_close(r);
	for (int i = 0; i < 3; i++)
		buffer_release(&lines[i]);
	free(head);
	json_decref(header);
}

static void bad_arrivals_are_named(void **state)
{
	(void)state;
	static const char head[] =
		"{\"stages\":[{\"name\":\"a\",\"kind\":\"poisson\",\"begin_ns\":0,\"end_ns\":9,\"arrivals\":1,\"first_n\":0}],"
		"\"trace\":{\"sha256\":\"00\",\"requests\":2}}";
	static const struct {
		const char *line, *says;
	} cases[] = {
		{"{\"n\":0,\"req\":0,\"stage\":0}", "at_ns: missing"},
		{"{\"n\":0,\"at_ns\":1,\"req\":2,\"stage\":0}",
	     "req: expected less than 2, the number of requests in the trace, got 2"},
		{"{\"n\":0,\"at_ns\":1,\"req\":0,\"stage\":1}", "stage: expected less than 1, the number of stages, got 1"},
		{"{\"n\":0,\"at_ns\":-1,\"req\":0,\"stage\":0}", "at_ns: expected an integer of 0 or more, got -1"},
		{"{\"n\":3,\"req\":0,\"stage\":0,\"after\":3}", "after: expected the n of an earlier line, got 3"},
		{"{\"n\":3,\"req\":0,\"stage\":0,\"after\":[1,\"x\"]}", "after: expected the n of an earlier line, got \"x\""},
		{"{\"at_ns\":1,\"req\":0,\"stage\":0}", "n: missing"},
		{"{\"n\":0,\"at_ns\":1,\"req\":0,\"stage\":0,\"copy\":64}", "copy: expected at most 63, got 64"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct schedule_reader *r = NULL;
		struct schedule_arrival a;
		put_line("schedule", head, cases[i].line);
		assert_int_equal(schedule_reader_open(&r, path, &err), 0);
		assert_int_equal(schedule_reader_next(r, &a, &err), -1);
		if (!strstr(err.text, cases[i].says))
			fail_msg("case %zu: %s", i, err.text);
		schedule_reader_close(r);
	}
	struct schedule_reader *r = NULL;
	put("schedule", "{\"stages\":[{\"begin_ns\":0,\"arrivals\":1}]}", NULL, 0);
	assert_int_equal(schedule_reader_open(&r, path, &err), -1);
	assert_string_equal(err.text, "stages[0].first_n: missing: a stage requires begin_ns, arrivals and first_n");
	static const char *const odd[][2] = {
		{"{\"stages\":[{\"begin_ns\":0,\"arrivals\":-1}]}", "stages[0].arrivals: expected an integer of 0 or more"},
		{"{\"stages\":[7]}", "stages[0]: expected an object as in ipf-schedule(5)"}};
	for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
		ipf_error_clear(&err);
		put("schedule", odd[i][0], NULL, 0);
		assert_int_equal(schedule_reader_open(&r, path, &err), -1);
		assert_string_equal(err.text, odd[i][1]);
	}
}

static void record_comes_back_with(struct slice body)
{
	struct record a, b;
	struct buffer line = {0};
	struct slice client;
	struct record_reader *r = NULL;
	struct record_read reads[] = {{.t_ns = 5, .bytes = 1, .own_ns = 6},
	                              {.t_ns = 9, .bytes = (int64_t)body.len - 1, .own_ns = 9}};
	record_init(&a);
	a.n = 4;
	a.req = 2;
	a.stage = 0;
	a.due_ns = -3;
	a.start_ns = 1;
	a.connection = 8;
	a.reused = true;
	a.status = 200;
	a.error = RECORD_RESET;
	a.stale = true;
	a.error_text = SLICE("went \"away\"");
	a.headers = SLICE("{\"x\":\"y\"}");
	a.streamed = true;
	a.reads = reads;
	a.reads_count = 2;
	a.body = body;
	record_write(&a, &line);
	put("records", NULL, &line, 1);
	assert_int_equal(record_reader_open(&r, path, &err), 0);
	if (record_reader_next(r, &b, &client, &err) != 1)
		fail_msg("%s", err.text);
	assert_true(slice_equal(a.body, b.body));
	assert_true(slice_equal(a.error_text, b.error_text) && slice_equal(a.headers, b.headers));
	assert_true(b.error == RECORD_RESET && b.stale && b.reused && b.streamed && b.connection == 8 && b.due_ns == -3 &&
	            b.end_ns == IPF_ABSENT);
	assert_int_equal(b.reads_count, 2);
	assert_memory_equal(b.reads, reads, sizeof reads);
	assert_int_equal(record_reader_next(r, &b, &client, &err), 0);
	record_reader_close(r);
	buffer_release(&line);
}

static void record_comes_back(void **state)
{
	(void)state;
	record_comes_back_with(SLICE("data: {\"x\":\"\xc3\xa9\"}\r\n\n"));
	record_comes_back_with(SLICE("cut in the middle of a character: \xe2\x82"));
	uint64_t seed = test_seed("record_comes_back");
	static const size_t sizes[] = {2, 3, 4, 5, 65536, 3 * 65536, 3 * 65536 + 1, 400001};
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		char *bytes = malloc(sizes[i]);
		assert_non_null(bytes);
		for (size_t at = 0; at < sizes[i]; at++)
			bytes[at] = (char)test_random(&seed);
		bytes[0] = '\xff';
		record_comes_back_with((struct slice){bytes, sizes[i]});
		free(bytes);
	}
}

static void client_lines_and_bad_records(void **state)
{
	(void)state;
	struct record_reader *r = NULL;
	struct record record;
	struct slice client;
	put_line("records", NULL, "{\"client\":{\"t_ns\":5}}");
	assert_int_equal(record_reader_open(&r, path, &err), 0);
	assert_int_equal(record_reader_next(r, &record, &client, &err), 2);
	assert_true(slice_is(client, "{\"t_ns\":5}"));
	record_reader_close(r);
	static const struct {
		const char *line, *says;
	} cases[] = {
		{"{\"n\":0,\"stage\":0,\"reads\":[[1,5,1]],\"body\":\"four\"}",
	     "reads: their sum is 5 bytes, but the body has 4"},
		{"{\"n\":0,\"stage\":0,\"reads\":[[1,-5,1]],\"body\":\"\"}", "reads: expected [t_ns, bytes, own_ns]"},
		{"{\"n\":0,\"stage\":0,\"error\":{\"kind\":\"odd\"}}",
	     "error.kind: expected a kind of error that ipf-records(5) lists, got \"odd\""},
		{"{\"n\":0,\"stage\":0,\"body_base64\":\"!!!!\"}", "body_base64: expected base64"},
		{"{\"n\":0}", "stage: missing"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		put_line("records", NULL, cases[i].line);
		assert_int_equal(record_reader_open(&r, path, &err), 0);
		assert_int_equal(record_reader_next(r, &record, &client, &err), -1);
		if (!strstr(err.text, cases[i].says))
			fail_msg("case %zu: %s", i, err.text);
		record_reader_close(r);
	}
}

static void result_comes_back(void **state)
{
	(void)state;
	struct result a, b;
	struct buffer lines[3] = {0};
	struct slice line;
	struct result_reader *r = NULL;
	result_init(&a);
	a.n = 1;
	a.req = 1;
	a.stage = 0;
	a.ok = false;
	a.error_kind = SLICE("\"http-status\"");
	a.error_text = SLICE("\"too many\"");
	a.status = 429;
	a.lag_ns = -5;
	a.ttft_ns = 77;
	result_write(&a, &lines[0]);
	assert_string_equal(lines[0].data, "{\"n\":1,\"req\":1,\"stage\":0,\"ok\":false,\"lag_ns\":-5,\"ttft_ns\":77,"
	                                   "\"error\":{\"kind\":\"http-status\",\"text\":\"too many\",\"status\":429}}");
	buffer_text(&lines[1], "{\"histogram\":\"itl_ns\"}");
	buffer_text(&lines[2], "{\"sample\":\"client\"}");
	put("results", NULL, lines, 3);
	assert_int_equal(result_reader_open(&r, path, &err), 0);
	assert_int_equal(result_reader_next(r, &b, &line, &err), RESULT_ROW);
	assert_true(!b.ok && b.status == 429 && b.lag_ns == -5 && b.tpot_ns == IPF_ABSENT &&
	            slice_is(b.error_kind, "\"http-status\""));
	assert_int_equal(result_reader_next(r, &b, &line, &err), RESULT_HISTOGRAM);
	assert_int_equal(result_reader_next(r, &b, &line, &err), RESULT_SAMPLE);
	assert_true(slice_is(line, "{\"sample\":\"client\"}"));
	assert_int_equal(result_reader_next(r, &b, &line, &err), RESULT_END);
	result_reader_close(r);
	for (int i = 0; i < 3; i++)
		buffer_release(&lines[i]);
	put_line("results", NULL, "{\"n\":1,\"stage\":0,\"ok\":true,\"error\":{\"kind\":\"cut\"}}");
	assert_int_equal(result_reader_open(&r, path, &err), 0);
	assert_int_equal(result_reader_next(r, &b, &line, &err), -1);
	assert_string_equal(err.text, "error: present although ok is true");
	result_reader_close(r);
}

static int make_file(void **state)
{
	(void)state;
	int fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int remove_file(void **state)
{
	(void)state;
	return unlink(path);
}

/* Digits are written by hand: check numbers of every length. */
static void numbers_of_every_length(void **state)
{
	struct buffer line = {0};
	char wanted[200];

	(void)state;
	for (int64_t power = 1, last = 0; power > last;
	     last = power, power = power > INT64_MAX / 10 ? INT64_MAX : power * 10)
		for (int64_t n = power - 1; n <= power && n >= 0; n = n == INT64_MAX ? -1 : n + 1) {
			const int64_t after[] = {n / 3, n};
			struct schedule_arrival a = {
				.n = n, .at_ns = n / 7, .req = n / 2, .stage = n % 10, .wait_ns = n, .after = after, .after_count = 2};
			snprintf(wanted, sizeof wanted,
			         "{\"n\":%lld,\"at_ns\":%lld,\"req\":%lld,\"stage\":%lld,\"wait_ns\":%lld,\"after\":[%lld,%lld]}",
			         (long long)n, (long long)a.at_ns, (long long)a.req, (long long)a.stage, (long long)n,
			         (long long)after[0], (long long)n);
			buffer_clear(&line);
			schedule_arrival_write(&a, &line);
			assert_string_equal(line.data, wanted);
		}
	buffer_release(&line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trace_comes_back),
		cmocka_unit_test(inputs_come_back),
		cmocka_unit_test(answers_of_token_ids_have_a_length),
		cmocka_unit_test(bad_requests_are_named),
		cmocka_unit_test(schedule_comes_back),
		cmocka_unit_test(numbers_of_every_length),
		cmocka_unit_test(bad_arrivals_are_named),
		cmocka_unit_test(record_comes_back),
		cmocka_unit_test(client_lines_and_bad_records),
		cmocka_unit_test(result_comes_back),
	};
	return cmocka_run_group_tests(tests, make_file, remove_file);
}
