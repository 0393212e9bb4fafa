/* The class of a request: its tag, and the parts of requests of a class. */
#include "unit.h"

#include "shape/request_class.h"

static void a_class_becomes_a_tag(void **state)
{
	static const struct {
		const char *tags, *with;
	} cases[] = {
		{NULL, "{\"class\":\"a\\\"b\"}"},
		{"{}", "{\"class\":\"a\\\"b\"}"},
		{"[]", "[\"a\\\"b\"]"},
		{"{\"x\":1,\"class\":\"old\",\"y\":{\"class\":2}}", "{\"class\":\"a\\\"b\",\"x\":1,\"y\":{\"class\":2}}"},
		{"{\"cl\\u0061ss\":\"old\"}", "{\"class\":\"a\\\"b\"}"},
		{"[\"x\",\"y\"]", "[\"a\\\"b\",\"x\",\"y\"]"},
	};
	struct jdoc doc = {0};
	struct buffer out = {0};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct slice tags = request_class_tags(slice_of(cases[i].tags), "a\"b", &doc, &out);
		assert_string_equal(tags.data, cases[i].with);
	}
	jdoc_release(&doc);
	buffer_release(&out);
}

static void a_class_brings_its_parts(void **state)
{
	struct class_parts parts = {0};
	struct ipf_error err = {0};
	struct jdoc doc = {0};
	struct buffer scratch = {0}, body = {0};
	static const struct {
		const char *tags, *own, *headers, *body;
	} cases[] = {
		{"{\"class\":\"a\"}", NULL, "{\"X-A\":\"1: 2\",\"X-B\":\"\"}", "{\"p\":{\"q\":[1]},\"r\":\"=\"}"},
		{"{\"x\":1,\"class\":\"b\"}", NULL, NULL, "{\"p\":null}"},
		{"{\"class\":\"b\"}", "{\"p\":1,\"seed\":2}", NULL, "{\"p\":null,\"seed\":2}"},
		{"{\"class\":\"c\"}", "{\"seed\":2}", NULL, "{\"seed\":2}"},
		{"{\"class\":\"c\"}", NULL, NULL, NULL},
		{"{\"class\":1}", NULL, NULL, NULL},
		{"[\"a\"]", NULL, NULL, NULL},
		{NULL, NULL, NULL, NULL},
	};
	(void)state;
	assert_int_equal(class_parts_add_header(&parts, "a:X-A: 1: 2", &err), 0);
	assert_int_equal(class_parts_add_header(&parts, "a:X-B:", &err), 0);
	assert_int_equal(class_parts_add_body(&parts, "a:p={\"q\": [1]}", &err), 0);
	assert_int_equal(class_parts_add_body(&parts, "a:r=\"=\"", &err), 0);
	assert_int_equal(class_parts_add_body(&parts, "b:p=null", &err), 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct trace_request q;
		trace_request_init(&q);
		q.tags = slice_of(cases[i].tags);
		q.body = slice_of(cases[i].own);
		request_class_apply(&parts, request_class_of(q.tags, &doc, &scratch), &doc, &body, &q);
		assert_true(slice_equal(q.headers, slice_of(cases[i].headers)));
		assert_true(slice_equal(q.body, slice_of(cases[i].body)));
	}
	class_parts_release(&parts);
	jdoc_release(&doc);
	buffer_release(&scratch);
	buffer_release(&body);
}

static void bad_parts_are_refused(void **state)
{
	static const char *const headers[] = {"",          "a",           "a:",          ":X-A: 1",     "a:X A: 1",
	                                      "a:Host: x", "a:Cookie: x", "a:X-A: b\nc", "a\x1b:X-A: 1"};
	static const char *const bodies[] = {"", "a:p", ":p=1", "a:=1", "a:p=", "a:p=high", "a:stream=true", "a:p=1 2"};
	struct ipf_error err = {0};
	(void)state;
	for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
		struct class_parts parts = {0};
		ipf_error_clear(&err);
		if (class_parts_add_header(&parts, headers[i], &err) == 0 || err.kind != IPF_USAGE)
			fail_msg("%s: expected an error", headers[i]);
		class_parts_release(&parts);
	}
	for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
		struct class_parts parts = {0};
		ipf_error_clear(&err);
		if (class_parts_add_body(&parts, bodies[i], &err) == 0 || err.kind != IPF_USAGE)
			fail_msg("%s: expected an error", bodies[i]);
		class_parts_release(&parts);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_class_becomes_a_tag),
		cmocka_unit_test(a_class_brings_its_parts),
		cmocka_unit_test(bad_parts_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
