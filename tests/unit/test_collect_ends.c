#include "absent.h"
#include "api/response.h"
#include "measure/measure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collect_record.h"

/* Ends of a response, values that are none although they look like it, and content after the end. */

static struct response response;
static struct measure measure;

/* "kind events (after the end mark) finish" */
static void parsed_as(const char *members, struct slice body, const char *expected)
{
	const struct response_options response_options = {.keep_text = true};
	const struct measure_options measure_options = {.stall_ns = IPF_ABSENT};
	struct record_read read;
	struct buffer text = {0}, got = {0};
	struct ipf_error err = {0};
	struct record record;
	struct result row;
	buffer_format(
		&text,
		"{\"ipf\":\"api\",\"version\":1,\"name\":\"x\",\"method\":\"POST\",\"path\":\"/\",\"request\":{\"body\":{}},%s}",
		members);
	json_t *json;
	struct api *api = api_of_text(text.data, &json);
	record_of_body(&record, body, &read);
	record.headers = slice_of("{\"grpc-status\":\"0\"}");
	assert_int_equal(response_parse(&response, &record, api, &response_options, &err), 0);
	assert_int_equal(measure_row(&measure, &record, &response, &measure_options, &row, &err), 0);
	buffer_slice(&got, row.ok ? slice_of("ok") : row.error_kind);
	buffer_format(&got, " %lld", (long long)row.events);
	if (row.after_end != IPF_ABSENT)
		buffer_format(&got, "(%lld)", (long long)row.after_end);
	buffer_slice(&got, row.finish);
	if (strcmp(got.data, expected) != 0)
		fail_msg("%s\n%.*s\n  got      %s\n  expected %s", members, (int)body.len, body.data, got.data, expected);
	buffer_release(&got);
	buffer_release(&text);
	api_close(api);
	json_decref(json);
}

/* Two events with text "a" and "b"; `goes_on` is the finish member of the first, `ends` that of the second. */
static void two_events(const char *framing, const char *words, const char *goes_on, const char *ends,
                       const char *expected)
{
	struct buffer members = {0}, body = {0};
	bool sse = !strcmp(framing, "sse");
	const char *before = sse ? "data: " : "", *after = sse ? "\n\n" : strcmp(framing, "ndjson") == 0 ? "\n" : "";
	buffer_format(&members,
	              "\"response\":{\"framing\":\"%s\",\"text\":[\"/t\"],\"finish\":[\"/f\"],\"finish_words\":{%s},"
	              "\"end\":{\"when\":[\"/f\"]}}",
	              framing, words);
	buffer_format(&body, "%s{\"t\":\"a\",\"f\":%s}%s%s{\"t\":\"b\",\"f\":%s}%s", before, goes_on, after, before, ends,
	              after);
	parsed_as(members.data, buffer_all(&body), expected);
	buffer_release(&members);
	buffer_release(&body);
}

static void a_value_that_ends_nothing(void **state)
{
	(void)state;
	static const char *const framings[] = {"sse", "ndjson", "json-sequence"};
	for (size_t i = 0; i < sizeof framings / sizeof *framings; i++) {
		two_events(framings[i], "\"NOT_YET\":null,\"EOS\":\"stop\"", "\"NOT_YET\"", "\"EOS\"", "ok 2\"stop\"");
		two_events(framings[i], "\"NOT_YET\":null", "\"NOT_YET\"", "\"other\"", "ok 2\"other\"");
		two_events(framings[i], "\"NOT_YET\":null", "\"NOT_YET\"", "\"NOT_YET\"", "\"cut\" 2");
		two_events(framings[i], "", "null", "\"x\"", "ok 2\"x\"");
		two_events(framings[i], "", "false", "true", "ok 2");
		two_events(framings[i], "", "\"\"", "\"x\"", "ok 2\"x\"");
		two_events(framings[i], "", "0", "1", "ok 2");
		two_events(framings[i], "", "0.0", "2", "ok 2");
		two_events(framings[i], "\"7\":null,\"1\":\"length\"", "7", "1", "ok 2\"length\"");
		two_events(framings[i], "\"true\":null,\"false\":\"stop\"", "true", "false", "ok 2\"stop\"");
		two_events(framings[i], "\"0\":\"stop\",\"9\":null", "9", "0", "ok 2\"stop\"");
		two_events(framings[i], "", "\"x\"", "\"y\"", "ok 2(1)\"y\"");
	}
}

/* The vocabulary also holds where the end mark is not the finish reason. */
static void the_vocabulary_holds_for_every_end(void **state)
{
	(void)state;
	parsed_as("\"response\":{\"framing\":\"ndjson\",\"text\":[\"/t\"],\"finish_words\":{\"NOT_YET\":null,\"7\":null},"
	          "\"end\":{\"when\":[\"/e\"]}}",
	          slice_of("{\"t\":\"a\",\"e\":\"NOT_YET\"}\n{\"t\":\"b\",\"e\":7}\n{\"t\":\"c\",\"e\":\"DONE\"}\n"),
	          "ok 3");
	/* a number of the finish reason says nothing of another member */
	parsed_as("\"response\":{\"framing\":\"ndjson\",\"text\":[\"/t\"],\"finish\":[\"/more\"],"
	          "\"finish_words\":{\"true\":null,\"false\":\"stop\"},\"end\":{\"when\":[\"/done\"]}}",
	          slice_of("{\"t\":\"a\",\"more\":true,\"done\":false}\n{\"t\":\"b\",\"more\":false,\"done\":true}\n"),
	          "ok 2\"stop\"");
	/* several choices', one that goes on does not hide one that ends */
	parsed_as("\"response\":{\"framing\":\"ndjson\",\"text\":[\"/c/*/t\"],\"finish\":[\"/c/*/f\"],"
	          "\"finish_words\":{\"NOT_YET\":null},\"end\":{\"when\":[\"/c/*/f\"]}}",
	          slice_of("{\"c\":[{\"t\":\"a\",\"f\":\"NOT_YET\"},{\"t\":\"b\",\"f\":\"NOT_YET\"}]}\n"
	                   "{\"c\":[{\"t\":\"a\",\"f\":\"NOT_YET\"},{\"t\":\"b\",\"f\":\"EOS\"}]}\n"),
	          "ok 2\"EOS\"");
	/* a pointer with `is` names its value, whatever that is; the vocabulary comes first */
	parsed_as(
		"\"response\":{\"framing\":\"ndjson\",\"text\":[\"/t\"],\"end\":{\"when\":[{\"at\":\"/more\",\"is\":false}]}}",
		slice_of("{\"t\":\"a\",\"more\":true}\n{\"t\":\"b\",\"more\":false}\n"), "ok 2");
	parsed_as("\"response\":{\"framing\":\"ndjson\",\"text\":[\"/t\"],\"finish_words\":{\"x\":null},"
	          "\"end\":{\"when\":[{\"at\":\"/e\",\"is\":\"x\"}]}}",
	          slice_of("{\"t\":\"a\",\"e\":\"x\"}\n"), "\"cut\" 1");
	/* a whole body is complete as such */
	parsed_as("\"response_whole\":{\"framing\":\"json\",\"text\":[\"/t\"],\"end\":{\"when\":[\"/n\"]}}",
	          slice_of("{\"t\":\"a\",\"n\":0}"), "ok 1");
}

#define GRPC                                                                                                           \
	"\"grpc\":{\"request\":\"M\",\"response\":\"M\",\"messages\":{\"M\":{\"t\":\"string = 1\",\"f\":\"%s = 2\"}},"     \
	"\"enums\":{\"F\":{\"GOES_ON\":0,\"TOLD_ALL\":1}}},"                                                               \
	"\"response\":{\"framing\":\"grpc\",\"text\":[\"/t\"],\"finish\":[\"/f\"],\"end\":{\"when\":[\"/f\"]}}"

#define MESSAGE(len, text) "\0\0\0\0" len "\x0a\x01" text
#define BYTES(text)        ((struct slice){text, sizeof(text) - 1})

/* A member a server may leave out means the same if it sends it. */
static void a_default_with_presence_ends_nothing(void **state)
{
	(void)state;
	static const char *const numbers[] = {"F", "optional F", "int32", "uint64", "sint32", "bool"};
	struct buffer members = {0};
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
		buffer_clear(&members);
		buffer_format(&members, GRPC, numbers[i]);
		const char *finish = strchr(numbers[i], 'F') ? "ok 2\"TOLD_ALL\"" : "ok 2";
		parsed_as(members.data, BYTES(MESSAGE("\x05", "a\x10\x00") MESSAGE("\x05", "b\x10\x01")), finish);
		parsed_as(members.data, BYTES(MESSAGE("\x05", "a\x10\x00") MESSAGE("\x05", "b\x10\x00")), "\"cut\" 2");
		parsed_as(members.data, BYTES(MESSAGE("\x03", "a") MESSAGE("\x05", "b\x10\x01")), finish);
	}
	buffer_clear(&members);
	buffer_format(&members, GRPC, "optional string");
	parsed_as(members.data, BYTES(MESSAGE("\x05", "a\x12\x00") MESSAGE("\x06", "b\x12\x01x")), "ok 2\"x\"");
	buffer_release(&members);
}

static void content_after_the_end(void **state)
{
	(void)state;
	static const char done[] = "\"response\":{\"framing\":\"sse\",\"text\":[\"/t\"],\"end\":{\"data\":\"[DONE]\"",
					  whole_text[] = "\"response\":{\"framing\":\"json-sequence\",\"text_mode\":\"cumulative\","
									 "\"text\":[\"/t\"],\"end\":{\"when\":[\"/e\"]";
	const struct {
		const char *members, *body, *allowed, *forbidden;
	} cases[] = {
		{done, "data: {\"t\":\"a\"}\n\ndata: [DONE]\n\ndata: {\"t\":\"b\"}\n\ndata: {\"t\":\"c\"}\n\n", "ok 3(2)",
	     "\"malformed\" 3(2)"},
		{done, "data: {\"t\":\"a\"}\n\ndata: [DONE]\n\ndata: {\"t\":\"\"}\n\n: ping\n\n", "ok 1", "ok 1"},
		{done, "data: [DONE]\n\ndata: {\"t\":\"a\"}\n\n", "ok 1(1)", "\"malformed\" 1(1)"},
		/* the same text again is nothing new */
		{whole_text, "{\"t\":\"a\"}{\"t\":\"ab\",\"e\":1}{\"t\":\"ab\"}", "ok 2", "ok 2"},
		{whole_text, "{\"t\":\"a\",\"e\":1}{\"t\":\"ab\"}", "ok 2(1)", "\"malformed\" 2(1)"},
	};
	struct buffer members = {0};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		for (int final = 0; final < 2; final++) {
			buffer_clear(&members);
			buffer_format(&members, "%s%s}}", cases[i].members, final ? ",\"final\":true" : "");
			parsed_as(members.data, slice_of(cases[i].body), final ? cases[i].forbidden : cases[i].allowed);
		}
	buffer_release(&members);
}

static void a_body_of_white_space_is_none(void **state)
{
	(void)state;
	static const char members[] = "\"response\":{\"framing\":\"sse\",\"text\":[\"/t\"],\"end\":{\"data\":\"[DONE]\"}}";
	const char *const blank[] = {"", " ", "\n", " \r\n\t", "\xEF\xBB\xBF \n"};
	for (size_t i = 0; i < sizeof blank / sizeof *blank; i++)
		parsed_as(members, slice_of(blank[i]), "\"cut\" 0");
	parsed_as(members, slice_of(" x"), "\"malformed\" 0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_that_ends_nothing),
		cmocka_unit_test(the_vocabulary_holds_for_every_end),
		cmocka_unit_test(a_default_with_presence_ends_nothing),
		cmocka_unit_test(content_after_the_end),
		cmocka_unit_test(a_body_of_white_space_is_none),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	response_release(&response);
	measure_release(&measure);
	return failed;
}
