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

/* Which responses were streamed and so have a first token, and which came in one piece: by the bytes received, not by
 * the request. */

#define WHOLE_HALF                                                                                                     \
	",\"response_whole\":{\"framing\":\"json\",\"text\":[\"/all\",\"/t\"],\"usage\":{\"output_tokens\":[\"/n\"]},"     \
	"\"end\":{\"when\":[\"/all\",\"/t\"]}}"
#define STREAMED_HALF(framing, end)                                                                                    \
	"\"response\":{\"framing\":\"" framing "\",\"text\":[\"/t\"],\"usage\":{\"output_tokens\":[\"/n\"]},\"end\":" end  \
	"}"
static const char sse[] = STREAMED_HALF("sse", "{\"data\":\"[DONE]\"}") WHOLE_HALF,
				  sse_only[] = STREAMED_HALF("sse", "{\"data\":\"[DONE]\"}"),
				  lines[] = STREAMED_HALF("ndjson", "{\"when\":[\"/done\"]}") WHOLE_HALF,
				  objects[] = STREAMED_HALF("json-sequence", "{\"eof\":true}") WHOLE_HALF,
				  whole_only[] = "\"x\":0" WHOLE_HALF,
				  many_whole[] =
					  "\"response_whole\":{\"framing\":\"json-sequence\",\"text\":[\"/t\"],\"end\":{\"eof\":true}}",
				  grpc[] =
					  "\"grpc\":{\"request\":\"M\",\"response\":\"M\",\"messages\":{\"M\":{\"t\":\"string = 1\"}}},"
					  "\"response\":{\"framing\":\"grpc\",\"text\":[\"/t\"]},"
					  "\"response_whole\":{\"framing\":\"grpc\",\"text\":[\"/t\"]}";

struct streaming_case {
	const char *descriptor;
	bool asked;
	int64_t asked_tokens; /* 0: not known */
	const char *body;
	size_t len;           /* 0: a text */
	const char *expected; /* why it was not streamed; NULL: it has a TTFT; "-": a failure */
};

static const struct streaming_case cases[] = {
	{sse, true, 0, "data: {\"t\":\"a\"}\n\ndata: [DONE]\n\n", 0, NULL}, /* one token */
	{sse, true, 0, "data: {\"t\":\"a\"}\n\ndata: {\"t\":\"b\",\"n\":2}\n\ndata: [DONE]\n\n", 0, NULL},
	{sse, true, 0, "{\"all\":\"a b\",\"n\":2}", 0, "ignored"},
	{sse, true, 1, "{\"all\":\"a\",\"n\":1}", 0, "ignored"}, /* no stream looks like this */
	{sse, true, 0, " [{\"t\":\"a\"}]", 0, "-"},
	{sse_only, true, 0, "{\"t\":\"a b\"}", 0, "-"}, /* this half has no end mark for it */
	{sse, false, 0, "{\"all\":\"a b\"}", 0, "not-asked"},
	{sse, false, 0, "data: {\"t\":\"a b\",\"n\":2}\n\ndata: [DONE]\n\n", 0, "not-asked"},
	{sse, false, 0, "data: {\"t\":\"a\"}\n\ndata: {\"t\":\"b\"}\n\ndata: [DONE]\n\n", 0, NULL}, /* unasked */
	{whole_only, false, 0, "{\"all\":\"a b\"}", 0, "no-streaming"},
	/* lines and objects: one value may be a stream of one token */
	{lines, true, 0, "{\"t\":\"a\"}\n{\"t\":\"b\",\"done\":true}\n", 0, NULL},
	{lines, true, 0, "{\"t\":\"a\"}\n{\"t\":\"\",\"done\":true,\"n\":1}\n", 0, NULL},
	{lines, true, 0, "{\"t\":\"a b\",\"n\":2,\"done\":true}\n", 0, "ignored"},
	{lines, true, 0, "{\"t\":\"a\",\"n\":1,\"done\":true}\n", 0, NULL},
	{lines, true, 1, "{\"t\":\"a\",\"done\":true}\n", 0, NULL},
	{lines, true, 9, "{\"t\":\"a\",\"done\":true}\n", 0, "ignored"},
	{lines, true, 0, "{\n  \"t\": \"a b\",\n  \"done\": true\n}\n", 0, "ignored"},
	{lines, true, 0, "{\"all\":\"a b\",\"n\":2}", 0, "ignored"},
	{lines, true, 0, "{\"all\":\"a\",\"n\":1}", 0, "ignored"},
	{objects, true, 0, "{\"t\":\"a\"}{\"t\":\"b\"}", 0, NULL},
	{objects, true, 0, "[{\"t\":\"a\"},\n{\"t\":\"b\"}]", 0, NULL},
	{objects, true, 0, "{\n  \"t\": \"a b\", \"n\": 2\n}", 0, "ignored"},
	{objects, true, 0, "{\"t\":\"a\",\"n\":1}", 0, NULL},
	{objects, true, 0, "{\"t\":\"a\"}\0", 10, NULL}, /* a separator: more could have come */
	{objects, false, 0, "{\"all\":\"a b\"}", 0, "not-asked"},
	{many_whole, false, 0, "{\"t\":\"a\"}", 0, "no-streaming"},
	{many_whole, false, 0, "{\"t\":\"a\"}{\"t\":\"b\"}", 0, NULL},
	{grpc, true, 0, "\0\0\0\0\3\x0a\1a", 8, NULL}, /* a message of a stream */
	{grpc, false, 0, "\0\0\0\0\3\x0a\1a", 8, "not-asked"},
	{grpc, false, 0, "\0\0\0\0\3\x0a\1a\0\0\0\0\3\x0a\1b", 16, NULL},
	/* failures have no reason, but all known values */
	{sse, true, 0, "{\"error\":\"no\"}", 0, "-"},
	{sse, true, 0, "data: {\"t\":\"a\"}\n\n", 0, "-"},
};

static struct response response;
static struct measure measure;

static void measure_case(const struct streaming_case *c, const char *descriptor, struct result *row)
{
	const struct response_options response_options = {0};
	const struct measure_options measure_options = {.stall_ns = IPF_ABSENT, .deadline_ns = 10};
	size_t len = c->len ? c->len : strlen(c->body);
	struct record_read read;
	struct ipf_error err = {0};
	struct record record;
	json_t *json;
	struct api *api = api_of_text(descriptor, &json);
	record_of_body(&record, ((struct slice){c->body, len}), &read);
	record.streamed = c->asked;
	record.asked_output_tokens = c->asked_tokens ? c->asked_tokens : IPF_ABSENT;
	record.headers = slice_of("{\"grpc-status\":\"0\"}");
	assert_int_equal(response_parse(&response, &record, api, &response_options, &err), 0);
	assert_int_equal(measure_row(&measure, &record, &response, &measure_options, row, &err), 0);
	api_close(api);
	json_decref(json);
}

static void a_response_in_one_piece_has_no_first_token(void **state)
{
	(void)state;
	struct buffer text = {0};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct streaming_case *c = &cases[i];
		struct result row;
		const char *members = c->descriptor == whole_only ? whole_only + strlen("\"x\":0,") : c->descriptor;
		buffer_clear(&text);
		buffer_format(
			&text,
			"{\"ipf\":\"api\",\"version\":1,\"name\":\"x\",\"method\":\"POST\",\"path\":\"/\",\"request\":{\"body\":{}},%s}",
			members);
		measure_case(c, text.data, &row);
		const char *why = result_not_streamed_names[result_not_streamed(&row)];
		bool failure = c->expected && *c->expected == '-';
		bool good = failure ? !row.ok : row.ok && (c->expected ? why && !strcmp(why, c->expected) : !why);
		if (!good)
			fail_msg("%zu: %s\n  %s: expected %s, got %s", i, members, c->body, c->expected ? c->expected : "a TTFT",
			         row.ok ? (why ? why : "a TTFT") : "a failure");
		if (!row.ok)
			continue;
		assert_int_equal(row.ttft_ns, why ? IPF_ABSENT : 100);
		assert_int_equal(row.ttfa_ns, why ? IPF_ABSENT : 100);
		assert_int_equal(row.e2e_ns, 100);
		if (why) {
			assert_int_equal(row.tpot_ns, IPF_ABSENT);
			assert_int_equal(row.itl_max_ns, IPF_ABSENT);
			assert_int_equal(row.deadlines, IPF_ABSENT);
		}
	}
	buffer_release(&text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_response_in_one_piece_has_no_first_token),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	response_release(&response);
	measure_release(&measure);
	return failed;
}
