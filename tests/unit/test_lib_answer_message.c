/* An answer without its API: redirects, compressed bodies, errors. */
#include "unit.h"

#include "api/answer_message.h"
#include "api/error_message.h"

struct answer {
	int64_t status;
	const char *headers, *body, *message;
};

static void says(const struct answer *a, bool of_compressed)
{
	struct jdoc doc = {0};
	struct buffer out = {0};
	const struct answer_head head = {a->status, slice_of(a->headers), slice_of(a->body)};
	bool compressed = false;
	buffer_text(&out, "");
	if (of_compressed)
		compressed = answer_compressed(&doc, &head, &out);
	else
		answer_message(&doc, &head, &out);
	if (strcmp(out.data, a->message) != 0)
		fail_msg("of %lld, %s, \"%s\": got \"%s\", expected \"%s\"", (long long)a->status, a->headers, a->body,
		         out.data, a->message);
	assert_int_equal(compressed, of_compressed && *a->message);
	buffer_release(&out);
	jdoc_release(&doc);
}

static void redirects_say_where_they_lead(void **state)
{
	static const struct answer answers[] = {
		{308, "{\"location\":\"https://h/v1\"}", "", "redirected to https://h/v1: use it as --url"},
		{301, "{\"location\":\"HTTP://h:80\"}", "x", "redirected to HTTP://h:80: use it as --url"},
		{302, "{\"location\":\"https://h/?k=v\"}", "", "redirected to https://h/: use it as --url"},
		{303, "{\"location\":\"https://h/a#b\"}", "", "redirected to https://h/a: use it as --url"},
		{307, "{\"location\":\"/v2/x\"}", "", "redirected to /v2/x on the same server: use it as the path of --url"},
		{308, "{\"location\":\"https://h/v1/\"}", "",
	     "redirected to https://h/v1/: use its path in an API descriptor (--api), as --url ignores the last slash"},
		{308, "{\"location\":\"\"}", "", "redirected (no Location recorded)"},
		{308, NULL, "<title>Moved</title>", "redirected (no Location recorded)"},
		{304, "{\"location\":\"https://h\"}", "", ""},
		{404, "{\"location\":\"https://h\"}", "{\"error\":\"gone\"}", "gone"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
		says(&answers[i], false);
}

static void compressed_bodies_are_named(void **state)
{
	static const struct answer answers[] = {
		{200, NULL, "\x1f\x8b\x08\x04", "the body is compressed (gzip, by its first bytes), which was not requested"},
		{200, NULL, "\x28\xb5\x2f\xfd\x04",
	     "the body is compressed (zstd, by its first bytes), which was not requested"},
		{200, "{\"content-encoding\":\"GZIP\"}", "\x1f\x8b\x08\x04",
	     "the body is compressed (Content-Encoding: GZIP), which was not requested"},
		{500, "{\"content-encoding\":\"br\"}", "\x8b\x05\x80\xff\xfe\x91\x02\x88",
	     "the body is compressed (Content-Encoding: br), which was not requested"},
		{200, "{\"content-encoding\":\"identity\"}", "\x8b\x05\x80\xff\xfe\x91\x02\x88", ""},
		{200, "{\"content-encoding\":\"gzip\"}", "data: {}\n\n", ""},
		{200, "{\"content-encoding\":\"gzip\"}", "", ""},
		{200, "{\"x\":\"content-encoding\"}", "\x8b\x05\x80\xff\xfe\x91\x02\x88", ""},
		{200, NULL, "\x1f\x8b", ""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
		says(&answers[i], true);
}

static void bodies_of_errors_have_a_message(void **state)
{
	static const struct answer answers[] = {
		{400, NULL, "data: {\"error\":{\"message\":\"too long\"}}\n\ndata: [DONE]\n\n", "too long"},
		{400, NULL, "event: error\ndata: too long\n\n", "too long"},
		{400, NULL, ": wait\n\nevent: ping\ndata: {\"type\":\"ping\"}\n\ndata: {\"errorMessage\":\"too long\"}\n\n",
	     "too long"},
		{400, NULL, "{\"status\":\"loading\"}\n{\"error_msg\":\"too long\"}\n", "too long"},
		{400, NULL, "{\n\"base_resp\": {\"status_code\": 1, \"status_msg\": \"too long\"}\n}\n", "too long"},
		{400, NULL, "{\"errors\":[{\"detail\":\"too long\"}]}", "too long"},
		{500, NULL, "\x8b\x05\x80\xff\xfe\x91\x02\x88", "8 bytes other than text"},
		{500, NULL, "", ""},
	};
	(void)state;
	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
		says(&answers[i], false);
}

/* The member reporting an error, as JSON; "-": none. */
static void member_is(const char *text, const char *expected)
{
	struct jdoc doc = {0};
	struct ipf_error err = {0};
	assert_int_equal(jdoc_parse(&doc, text, strlen(text), &err), 0);
	jdoc_id member = error_message_member(&doc, JDOC_ROOT);
	struct slice raw = member == JDOC_NONE ? slice_of("-") : jdoc_raw(&doc, member);
	if (!slice_is(raw, expected))
		fail_msg("of %s: got %.*s, expected %s", text, (int)raw.len, raw.data, expected);
	jdoc_release(&doc);
}

static void members_that_report_an_error(void **state)
{
	(void)state;
	member_is("{\"error_type\":\"T\",\"error_message\":\"m\"}", "\"m\"");
	member_is("{\"err\":\"m\",\"error_message\":null}", "\"m\"");
	member_is("{\"error\":{\"message\":\"m\"}}", "{\"message\":\"m\"}");
	member_is("[{\"error\":\"m\"}]", "\"m\"");
	member_is("{\"error\":true,\"message\":\"m\"}", "{\"error\":true,\"message\":\"m\"}");
	member_is("{\"error_code\":50001,\"text\":\"m\"}", "{\"error_code\":50001,\"text\":\"m\"}");
	member_is("{\"object\":\"error\",\"message\":\"m\"}", "{\"object\":\"error\",\"message\":\"m\"}");
	member_is("{\"base_resp\":{\"status_code\":1002}}", "{\"status_code\":1002}");
	/* members that servers write in every event */
	static const char *const none[] = {"{\"error\":null,\"err\":\"\",\"errors\":[],\"error_message\":\"\"}",
	                                   "{\"error\":false,\"error_code\":0,\"errorCode\":null}",
	                                   "{\"error\":{},\"base_resp\":{\"status_code\":0,\"status_msg\":\"success\"}}",
	                                   "{\"error\":{\"code\":0,\"message\":\"\"}}",
	                                   "{\"base_resp\":null,\"type\":\"text\",\"object\":\"chunk\",\"status\":\"ok\"}",
	                                   "{\"choices\":[{\"error\":\"m\"}]}",
	                                   "[]",
	                                   "\"error\""};
	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		member_is(none[i], "-");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(redirects_say_where_they_lead), cmocka_unit_test(compressed_bodies_are_named),
		cmocka_unit_test(bodies_of_errors_have_a_message), cmocka_unit_test(members_that_report_an_error)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
