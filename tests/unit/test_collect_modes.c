#include "absent.h"
#include "api/response.h"
#include "measure/measure.h"
#include "measure/itl_histograms.h"
#include "stats/histogram.h"
#include "stream/provenance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect_record.h"

/* Other kinds of servers: their descriptor is followed. */

#define HEAD                                                                                                           \
	"{\"ipf\":\"api\",\"version\":1,\"name\":\"x\",\"method\":\"POST\",\"path\":\"/\",\"request\":{\"body\":{}},"

static const char lines_of_json[] = HEAD
	"\"response\":{\"framing\":\"ndjson\",\"text\":[\"/response\"],\"finish\":[\"/done_reason\"],\"error\":[\"/error\"],"
	"\"usage\":{\"input_tokens\":[\"/prompt_eval_count\"],\"output_tokens\":[\"/eval_count\"]},\"end\":{\"when\":[\"/done\"]}}}";
static const char cumulative[] = HEAD
	"\"response\":{\"framing\":\"sse\",\"text_mode\":\"cumulative\",\"text\":[\"/text\"],\"reasoning\":[\"/thoughts\"],"
	"\"usage\":{\"output_tokens\":[\"/meta_info/completion_tokens\"]},\"end\":{\"data\":\"[DONE]\"}}}";
static const char no_end_mark[] = HEAD
	"\"response\":{\"framing\":\"ndjson\",\"text_mode\":\"cumulative-with-prompt\",\"text\":[\"/text/*\"],\"end\":{\"eof\":true}}}";
static const char named_events[] = HEAD
	"\"response\":{\"framing\":\"sse\",\"text\":[\"/delta/text\"],\"reasoning\":[\"/delta/thinking\"],\"error\":[\"/error\"],"
	"\"usage\":{\"input_tokens\":[\"/message/usage/input_tokens\"],\"output_tokens\":[\"/usage/output_tokens\"]},"
	"\"end\":{\"when\":[{\"at\":\"/type\",\"is\":\"message_stop\"}]}}}";
static const char with_tools[] = HEAD
	"\"response\":{\"framing\":\"ndjson\",\"text\":[\"/a\",\"/b\"],\"tools\":[\"/name\",\"/arguments\"],\"end\":{\"eof\":true}}}";
static const char only_whole[] = HEAD
	"\"response_whole\":{\"framing\":\"json\",\"text\":[\"/predictions/*/text\"],\"end\":{\"when\":[\"/predictions\"]}}}";

static struct response response;
static struct measure measure;
static struct token_counter *tokens;

/* "kind text events output_tokens(tokenizer's)/source finish", the text with --text. */
static void says(const char *descriptor, enum record_error error, const char *body, const char *expected)
{
	const struct response_options response_options = {.keep_text = true, .tokens = tokens};
	const struct measure_options measure_options = {.keep_text = true, .stall_ns = IPF_ABSENT, .tokens = tokens};
	struct record_read read;
	struct buffer got = {0};
	struct ipf_error err = {0};
	struct record record;
	struct result row;
	json_t *json;
	struct api *api = api_of_text(descriptor, &json);
	record_of_body(&record, slice_of(body), &read);
	record.error = error;
	assert_int_equal(response_parse(&response, &record, api, &response_options, &err), 0);
	assert_int_equal(measure_row(&measure, &record, &response, &measure_options, &row, &err), 0);
	buffer_slice(&got, row.ok ? slice_of("ok") : row.error_kind);
	buffer_byte(&got, ' ');
	buffer_slice(&got, row.reasoning);
	buffer_slice(&got, row.text);
	buffer_format(&got, " %lld", (long long)row.events);
	if (row.output_tokens != IPF_ABSENT)
		buffer_format(&got, " %lld", (long long)row.output_tokens);
	if (row.output_tokens_tokenizer != IPF_ABSENT)
		buffer_format(&got, "(%lld)", (long long)row.output_tokens_tokenizer);
	buffer_slice(&got, row.tokens_source);
	buffer_slice(&got, row.finish);
	assert_string_equal(got.data, expected);
	buffer_release(&got);
	api_close(api);
	json_decref(json);
}

static void json_by_lines(void **state)
{
	(void)state;
	says(lines_of_json, RECORD_OK,
	     "{\"response\":\"Hello\",\"done\":false}\n{\"response\":\" you\",\"done\":false}\r\n\n"
	     "{\"response\":\"\",\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":5,\"eval_count\":2}\n",
	     "ok \"Hello you\" 2 2(3)\"usage\"\"stop\"");
	says(lines_of_json, RECORD_OK, "{\"response\":\"Hello\",\"done\":false}\n{\"response\":\"!\",\"done\":true}",
	     "ok \"Hello!\" 2 2(2)\"tokenizer\"");
	says(lines_of_json, RECORD_OK, "{\"response\":\"Hello\",\"done\":false}\n",
	     "\"cut\" \"Hello\" 1 2(2)\"tokenizer\"");
	says(lines_of_json, RECORD_OK, "{\"response\":\"Hello\",\"done\":false}\n{\"resp",
	     "\"cut\" \"Hello\" 1 2(2)\"tokenizer\"");
	says(lines_of_json, RECORD_RESET, "{\"response\":\"Hello\",\"done\":false}\n{\"resp",
	     "\"reset\" \"Hello\" 1 2(2)\"tokenizer\"");
	says(lines_of_json, RECORD_OK, "{\"response\":\"Hello\"}\noops\n{\"done\":true}\n",
	     "\"malformed\" \"Hello\" 1 2(2)\"tokenizer\"");
	says(lines_of_json, RECORD_OK, "{\"error\":\"model not found\"}\n", "\"in-band\"  0");
	says(lines_of_json, RECORD_OK, "<html></html>\n", "\"malformed\"  0");
	says(lines_of_json, RECORD_OK, "", "\"cut\"  0");
}

static void the_whole_text_each_time(void **state)
{
	(void)state;
	says(
		cumulative, RECORD_OK,
		"data: {\"text\":\"\"}\n\ndata: {\"text\":\"Hel\"}\n\ndata: {\"text\":\"Hello\"}\n\ndata: {\"text\":\"Hello\"}\n\n"
		"data: {\"text\":\"Hello you\",\"meta_info\":{\"completion_tokens\":3}}\n\ndata: [DONE]\n\n",
		"ok \"Hello you\" 3 3(3)\"usage\"");
	/* a reasoning that stays while the answer grows is no content any more */
	says(
		cumulative, RECORD_OK,
		"data: {\"thoughts\":\"hm\"}\n\ndata: {\"thoughts\":\"hm\",\"text\":\"a\"}\n\ndata: {\"thoughts\":\"hm\",\"text\":\"ab\"}\n\ndata: [DONE]\n\n",
		"ok \"hm\"\"ab\" 3 1(1)\"tokenizer\"");
	/* taken back and said otherwise: the text is the server's last one, and the differing part is new */
	says(cumulative, RECORD_OK, "data: {\"text\":\"abc\"}\n\ndata: {\"text\":\"abd\"}\n\ndata: [DONE]\n\n",
	     "ok \"abd\" 2 1(1)\"tokenizer\"");
	says(cumulative, RECORD_OK,
	     "data: {\"text\":\"ab\xef\xbf\xbd\"}\n\ndata: {\"text\":\"ab\xc3\xa9\"}\n\ndata: {\"text\":\"ab\xc3\xa9"
	     "de\"}\n\ndata: [DONE]\n\n",
	     "ok \"ab\xc3\xa9"
	     "de\" 3 2(2)\"tokenizer\"");
}

/* This many characters of the earlier text stay: a byte more or less of them would be seen here. */
static const char prefix[] =
	"{\"ipf\":\"api\",\"version\":1,\"name\":\"p\",\"method\":\"POST\",\"path\":\"/\",\"request\":{\"body\":{}},"
	"\"response\":{\"framing\":\"sse\",\"text_mode\":\"prefix\",\"text\":[\"/t\"],\"prefix_len\":[\"/k\"],\"end\":{\"data\":\"[DONE]\"}}}";

static void a_prefix_stays(void **state)
{
	(void)state;
	says(
		prefix, RECORD_OK,
		"data: {\"t\":\"a\xc3\xa9z\"}\n\ndata: {\"t\":\"bc\",\"k\":2}\n\ndata: {\"t\":\"d\",\"k\":4}\n\ndata: [DONE]\n\n",
		"ok \"a\xc3\xa9"
		"bcd\" 3 2(2)\"tokenizer\"");
	/* more than there is: all of it stays; nothing: all is new */
	says(prefix, RECORD_OK, "data: {\"t\":\"ab\"}\n\ndata: {\"t\":\"c\",\"k\":9}\n\ndata: [DONE]\n\n",
	     "ok \"abc\" 2 1(1)\"tokenizer\"");
	says(prefix, RECORD_OK, "data: {\"t\":\"ab\"}\n\ndata: {\"t\":\"c\"}\n\ndata: [DONE]\n\n",
	     "ok \"c\" 2 1(1)\"tokenizer\"");
}

static void answers_without_an_end_mark_are_complete_at_their_end(void **state)
{
	(void)state;
	/* the prompt is in it: nobody can count */
	says(no_end_mark, RECORD_OK, "{\"text\":[\"Say: a\"]}\n{\"text\":[\"Say: ab\"]}\n", "ok \"Say: ab\" 2 2\"events\"");
	says(no_end_mark, RECORD_OK, "{\"text\":[\"Say: a\"]}\n{\"text\":[\"Say: ab\"]}", "ok \"Say: ab\" 2 2\"events\"");
	says(no_end_mark, RECORD_OK, "{\"text\":[\"Say: a\"]}\n{\"text\":[\"Sa", "\"cut\" \"Say: a\" 1 1\"events\"");
	says(no_end_mark, RECORD_CUT, "{\"text\":[\"Say: a\"]}\n", "\"cut\" \"Say: a\" 1\"none\"");
	says(no_end_mark, RECORD_OK, "", "\"cut\"  0");
}

static void events_with_types(void **state)
{
	(void)state;
	says(
		named_events, RECORD_OK,
		"event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":9}}}\n\n"
		"event: ping\ndata: {\"type\":\"ping\"}\n\n"
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}\n\n"
		"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"Hi\"}}\n\n"
		"event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":4}}\n\n"
		"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		"ok \"hm\"\"Hi\" 2 4(1)\"usage\"");
	says(
		named_events, RECORD_OK,
		"event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n",
		"\"in-band\"  0");
}

/* For the answer's text the first pointer leading somewhere counts, for a tool call all. */
static void alternatives_and_all(void **state)
{
	(void)state;
	says(with_tools, RECORD_OK, "{\"a\":\"abcd\",\"b\":\"abcd\"}\n{\"a\":\"\",\"b\":\"efgh\"}\n",
	     "ok \"abcdefgh\" 2 2(2)\"tokenizer\"");
	says(with_tools, RECORD_OK, "{\"name\":\"abcd\",\"arguments\":\"efgh\"}\n", "ok  1 2(2)\"tokenizer\"");
}

static void a_server_that_never_streams(void **state)
{
	(void)state;
	says(only_whole, RECORD_OK, "{\"predictions\":[{\"text\":\"ab\"},{\"text\":\"c\"}]}",
	     "ok \"abc\" 1 1(1)\"tokenizer\"");
	says(only_whole, RECORD_OK, "{\"prediction\":[]}", "\"malformed\"  0");
}

/* ---- pooled gaps ---- */

static void gaps_of_models(struct stream_reader *reader)
{
	struct ipf_error err = {0};
	static const struct {
		const char *name;
		int64_t stage, count, min, max;
		const char *model;
		int64_t position;
	} expected[] = {{"itl_ns", 0, 1, 5, 5, NULL, 0},
	                {"itl_low_ns", 0, 1, 5, 5, NULL, 0},
	                {"itl_high_ns", 0, 1, 5, 5, NULL, 0},
	                {"itl_by_position_ns", 0, 1, 5, 5, NULL, 1},
	                {"itl_ns", 2, 5, 5, 30, NULL, 0},
	                {"itl_low_ns", 2, 5, 5, 25, NULL, 0},
	                {"itl_high_ns", 2, 5, 5, 37, NULL, 0},
	                {"itl_ns", 2, 3, 10, 30, "a", 0},
	                {"itl_ns", 2, 1, 5, 5, "b", 0},
	                {"itl_by_position_ns", 2, 3, 5, 10, NULL, 1}, /* three answers */
	                {"itl_by_position_ns", 2, 2, 30, 30, NULL, 2},
	                {"itl_ns", 3, 1, 5, 5, NULL, 0}, /* the mean of a request has no position */
	                {"itl_low_ns", 3, 1, 5, 5, NULL, 0},
	                {"itl_high_ns", 3, 1, 5, 5, NULL, 0}};
	struct slice raw;
	struct jdoc doc = {0};
	int64_t stage, position;
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
		struct histogram *h = expected[i].position ? histogram_new_coarse() : histogram_new();
		assert_int_equal(stream_reader_next(reader, &raw, &err), 1);
		assert_int_equal(jdoc_parse(&doc, raw.data, raw.len, &err), 0);
		assert_true(jdoc_text_is(&doc, jdoc_get(&doc, JDOC_ROOT, "histogram"), expected[i].name));
		assert_int_equal(jdoc_get_int(&doc, JDOC_ROOT, "stage", &stage, &err), 1);
		assert_int_equal(stage, expected[i].stage);
		assert_int_equal(jdoc_get_int(&doc, JDOC_ROOT, "position", &position, &err), expected[i].position > 0);
		assert_true(expected[i].position == 0 || position == expected[i].position);
		jdoc_id model = jdoc_get(&doc, JDOC_ROOT, "model");
		assert_true(expected[i].model ? jdoc_text_is(&doc, model, expected[i].model) : jdoc_is_null(&doc, model));
		assert_int_equal(histogram_read(h, &doc, JDOC_ROOT, &err), 0);
		assert_int_equal(histogram_count(h), expected[i].count);
		assert_int_equal(histogram_min(h), expected[i].min);
		assert_int_equal(histogram_max(h), expected[i].max);
		histogram_free(h);
	}
	jdoc_release(&doc);
}

static void gaps_are_pooled_by_stage(void **state)
{
	(void)state;
	char path[] = "/tmp/ipf-test-itl-XXXXXX";
	close(mkstemp(path));
	struct ipf_error err = {0};
	struct itl_histograms *itl = itl_histograms_new();
	/* the second of the first may be 5 shorter and 7 longer */
	struct itl_sample first[] = {{10, 1, 0, 10, 10}, {30, 2, 0, 25, 37}}, second[] = {{5, 1, 0, 5, 5}};
	const struct measure two = {.samples = first, .samples_count = 2}, one = {.samples = second, .samples_count = 1},
						 none = {.samples = second},
						 mean = {.samples = second, .samples_count = 1, .samples_are_means = true};
	const struct result rows[] = {{.stage = 0, .model = slice_of("\"a\"")},
	                              {.stage = 1, .model = slice_of("\"a\"")},
	                              {.stage = 2, .model = slice_of("\"a\"")},
	                              {.stage = 2, .model = slice_of("\"b\"")},
	                              {.stage = 2},
	                              {.stage = 100000},
	                              {.stage = 3}};
	assert_int_equal(itl_histograms_add(itl, &rows[2], &two, &err), 0);
	assert_int_equal(itl_histograms_add(itl, &rows[0], &one, &err), 0);
	assert_int_equal(itl_histograms_add(itl, &rows[3], &one, &err), 0);
	assert_int_equal(itl_histograms_add(itl, &rows[4], &one, &err), 0);
	assert_int_equal(itl_histograms_add(itl, &rows[1], &none, &err), 0); /* no samples: no line */
	assert_int_equal(itl_histograms_add(itl, &rows[6], &mean, &err), 0);

	struct provenance p = {.tool = "test", .undated = true};
	json_t *header = stream_header("results", &p);
	struct stream_writer *writer = NULL;
	struct stream_reader *reader = NULL;
	struct buffer line = {0};
	assert_int_equal(stream_writer_open(&writer, path, header, &err), 0);
	assert_int_equal(itl_histograms_write(itl, writer, &line, &err), 0);
	assert_int_equal(stream_writer_close(writer, NULL, &err), 0);

	struct slice raw;
	assert_int_equal(stream_reader_open(&reader, path, "results", &err), 0);
	gaps_of_models(reader);
	assert_int_equal(stream_reader_next(reader, &raw, &err), 0);

	assert_int_equal(itl_histograms_add(itl, &rows[5], &one, &err), -1);
	assert_int_equal(err.kind, IPF_INPUT);
	assert_non_null(strstr(err.text, "stage: expected a number from 0 to 4095, got 100000"));
	stream_reader_close(reader);
	buffer_release(&line);
	json_decref(header);
	itl_histograms_free(itl);
	unlink(path);
}

/* As written: the lines of all stages, with count, least and greatest of each. */
static void itl_lines(const struct itl_histograms *itl, struct buffer *out)
{
	char path[] = "/tmp/ipf-test-itl-XXXXXX";
	close(mkstemp(path));
	struct ipf_error err = {0};
	struct provenance p = {.tool = "test", .undated = true};
	json_t *header = stream_header("results", &p);
	struct stream_writer *writer = NULL;
	struct stream_reader *reader = NULL;
	struct buffer line = {0};
	struct jdoc doc = {0};
	struct slice raw;
	assert_int_equal(stream_writer_open(&writer, path, header, &err), 0);
	assert_int_equal(itl_histograms_write(itl, writer, &line, &err), 0);
	assert_int_equal(stream_writer_close(writer, NULL, &err), 0);
	assert_int_equal(stream_reader_open(&reader, path, "results", &err), 0);
	while (stream_reader_next(reader, &raw, &err) == 1) {
		static const char *const members[] = {"stage", "position", "count", "min", "max"};
		assert_int_equal(jdoc_parse(&doc, raw.data, raw.len, &err), 0);
		jdoc_text(&doc, jdoc_get(&doc, JDOC_ROOT, "histogram"), out);
		buffer_byte(out, ' ');
		jdoc_text(&doc, jdoc_get(&doc, JDOC_ROOT, "model"), out);
		for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
			int64_t number;
			if (jdoc_get_int(&doc, JDOC_ROOT, members[i], &number, &err) == 1)
				buffer_format(out, " %s %lld", members[i], (long long)number);
		}
		buffer_byte(out, '\n');
	}
	buffer_byte(out, '\0');
	stream_reader_close(reader);
	buffer_release(&line);
	jdoc_release(&doc);
	json_decref(header);
	unlink(path);
}

static int add_gap(struct itl_histograms *itl, int64_t stage, const char *model, struct itl_sample sample)
{
	struct ipf_error err = {0};
	const struct measure one = {.samples = &sample, .samples_count = 1};
	const struct result row = {.stage = stage, .model = model ? slice_of(model) : (struct slice){0}};
	return itl_histograms_add(itl, &row, &one, &err);
}

/* Gaps that can have been shorter, or longer, or neither; models whose names begin alike. */
static void gaps_that_are_not_sure(void **state)
{
	struct itl_histograms *itl = itl_histograms_new();
	struct buffer out = {0};
	(void)state;
	assert_int_equal(add_gap(itl, 0, "\"a\"", (struct itl_sample){30, 1, 0, 25, 30}), 0);
	assert_int_equal(add_gap(itl, 0, "\"a\"", (struct itl_sample){40, 2, 0, 40, 47}), 0);
	assert_int_equal(add_gap(itl, 1, NULL, (struct itl_sample){30, 3, 0, 30, 30}), 0);
	assert_int_equal(add_gap(itl, 1, "\"a\"", (struct itl_sample){31, 1, 0, 31, 31}), 0);
	assert_int_equal(add_gap(itl, 1, "\"b\"", (struct itl_sample){32, 1, 0, 32, 32}), 0);
	assert_int_equal(add_gap(itl, 1, "\"ab\"", (struct itl_sample){33, 1, 0, 33, 33}), 0);
	assert_int_equal(add_gap(itl, 1, NULL, (struct itl_sample){34, 1, 0, 34, 34}), 0);
	itl_lines(itl, &out);
	assert_string_equal(out.data, "itl_ns  stage 0 count 3 min 30 max 40\n"
	                              "itl_low_ns  stage 0 count 3 min 25 max 40\n"
	                              "itl_high_ns  stage 0 count 3 min 30 max 47\n"
	                              "itl_by_position_ns  stage 0 position 1 count 2 min 30 max 40\n"
	                              "itl_by_position_ns  stage 0 position 2 count 1 min 40 max 40\n"
	                              "itl_ns  stage 1 count 7 min 30 max 34\n"
	                              "itl_low_ns  stage 1 count 7 min 30 max 34\n"
	                              "itl_high_ns  stage 1 count 7 min 30 max 34\n"
	                              "itl_ns a stage 1 count 1 min 31 max 31\n"
	                              "itl_ns b stage 1 count 1 min 32 max 32\n"
	                              "itl_ns ab stage 1 count 1 min 33 max 33\n"
	                              "itl_by_position_ns  stage 1 position 1 count 5 min 30 max 34\n"
	                              "itl_by_position_ns  stage 1 position 2 count 2 min 30 max 30\n");
	buffer_release(&out);
	itl_histograms_free(itl);
}

/* 4,096 stages, and 1,024 models: the samples of more models count for their stage only. */
static void the_most_stages_and_models(void **state)
{
	struct itl_histograms *itl = itl_histograms_new();
	struct buffer out = {0};
	size_t models = 0;
	(void)state;
	assert_int_equal(add_gap(itl, -1, NULL, (struct itl_sample){1, 1, 0, 1, 1}), -1);
	assert_int_equal(add_gap(itl, 4096, NULL, (struct itl_sample){1, 1, 0, 1, 1}), -1);
	for (int i = 0; i < 1030; i++) {
		char name[20];
		snprintf(name, sizeof name, "\"m%d\"", i);
		assert_int_equal(add_gap(itl, 4095, name, (struct itl_sample){i, 1, 0, i, i}), 0);
	}
	assert_int_equal(add_gap(itl, 4095, "\"m1023\"", (struct itl_sample){5000, 1, 0, 5000, 5000}), 0);
	itl_lines(itl, &out);
	for (const char *at = out.data; (at = strstr(at, "itl_ns m")); at++)
		models++;
	assert_int_equal(models, 1024);
	assert_non_null(strstr(out.data, "itl_ns  stage 4095 count 1031 min 0 max 5000\n"));
	assert_non_null(strstr(out.data, "itl_ns m1023 stage 4095 count 2 min 1023 max 5000\n"));
	buffer_release(&out);
	itl_histograms_free(itl);
}

static int open_tokens(void **state)
{
	(void)state;
	struct ipf_error err = {0};
	return token_counter_open(&tokens, "approx", &err);
}

static int close_all(void **state)
{
	(void)state;
	token_counter_close(tokens);
	response_release(&response);
	measure_release(&measure);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_by_lines),
		cmocka_unit_test(the_whole_text_each_time),
		cmocka_unit_test(a_prefix_stays),
		cmocka_unit_test(answers_without_an_end_mark_are_complete_at_their_end),
		cmocka_unit_test(events_with_types),
		cmocka_unit_test(alternatives_and_all),
		cmocka_unit_test(a_server_that_never_streams),
		cmocka_unit_test(gaps_are_pooled_by_stage),
		cmocka_unit_test(gaps_that_are_not_sure),
		cmocka_unit_test(the_most_stages_and_models),
	};
	return cmocka_run_group_tests_name("collect/modes", tests, open_tokens, close_all);
}
