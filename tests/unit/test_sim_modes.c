#include "modes.h"

#include "clock.h"

#include "unit.h"

#define MS NS_PER_MS

static void options(void **state)
{
	struct mode m;
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(mode_parse_option("cut:after=5,finish=1,share=10%", &m, &err), 0);
	assert_int_equal(m.kind, MODE_CUT);
	assert_int_equal(m.after, 5);
	assert_true(m.finish && m.after_given && !m.terminator);
	assert_true(m.share > 0.0999 && m.share < 0.1001);
	assert_int_equal(mode_parse_option("stall", &m, &err), 0);
	assert_int_equal(m.after, 1);
	assert_int_equal(m.pause_ns, 500 * MS);
	assert_true(m.share >= 1 && !m.after_given);
	assert_int_equal(mode_parse_option("429:retry=2s", &m, &err), 0);
	assert_int_equal(m.kind, MODE_STATUS);
	assert_int_equal(m.code, 429);
	assert_int_equal(m.retry_ns, 2 * NS_PER_S);
	assert_int_equal(mode_parse_option("error-inband:form=vllm,done=0", &m, &err), 0);
	assert_int_equal(m.form, FORM_VLLM);
	assert_false(m.done);
	assert_int_equal(mode_parse_option("reasoning:field=reasoning,tokens=9", &m, &err), 0);
	assert_string_equal(m.field, "reasoning");
	assert_int_equal(m.tokens, 9);
}

static void refused(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"cat", "unknown mode \"cat\""},
		{"", "unknown mode \"\""},
		{"cut:after", "cut: expected key=value, got \"after\""},
		{"cut:after=x", "cut: after: "},
		{"cut:after=-1", "cut: after: "},
		{"cut:pause=1s", "cut: it takes no \"pause\""},
		{"stall:pause=5", "stall: pause: "},
		{"cut:finish=2", "cut: finish: expected 0 or 1, got \"2\""},
		{"status:code=99", "status: code: expected 200 to 599, got 99"},
		{"multi:tokens=0", "multi: expected at least 1"},
		{"cut:share=2", "cut: share: "},
		{"error-inband:form=x", "error-inband: form: expected openai, vllm or event, got \"x\""},
		{"reasoning:field=x", "reasoning: field: expected reasoning_content"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct mode m;
		struct ipf_error err = {0};
		assert_int_equal(mode_parse_option(cases[i].text, &m, &err), -1);
		if (strncmp(err.text, cases[i].says, strlen(cases[i].says)) != 0)
			fail_msg("\"%s\": \"%s\" does not begin with \"%s\"", cases[i].text, err.text, cases[i].says);
	}
}

static void headers(void **state)
{
	struct modes modes = {.count = 0};
	struct buffer names = {0};
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(modes_parse_header(&modes, slice_of("cut;after=5; finish=1, ping ,multi;tokens=2"), &err), 0);
	assert_int_equal(modes.count, 3);
	modes_names(&modes, &names);
	assert_string_equal(names.data, "cut+ping+multi");
	buffer_release(&names);
	assert_int_equal(modes_find(&modes, MODE_CUT)->after, 5);
	assert_int_equal(modes_find(&modes, MODE_MULTI)->tokens, 2);
	assert_null(modes_find(&modes, MODE_CRLF));
	/* a share is for the server's option: a request has its mode or has it not */
	assert_int_equal(modes_parse_header(&modes, slice_of("cut;share=0.5"), &err), -1);
	ipf_error_clear(&err);
	assert_int_equal(modes_parse_header(&modes, slice_of("cr,cr,cr,cr,cr,cr"), &err), -1);
	assert_string_equal(err.text, "more than 8 modes");
}

static int from_json(struct modes *modes, const char *text, struct ipf_error *err)
{
	struct jdoc doc = {0};
	modes->count = 0;
	assert_int_equal(jdoc_parse(&doc, text, strlen(text), err), 0);
	int result = modes_parse_json(modes, &doc, JDOC_ROOT, err);
	jdoc_release(&doc);
	return result;
}

static void json(void **state)
{
	struct modes modes;
	struct ipf_error err = {0};
	(void)state;
	assert_int_equal(from_json(&modes, "\"cut;after=7, ping\"", &err), 0);
	assert_int_equal(modes.count, 2);
	assert_int_equal(modes.list[0].after, 7);
	assert_int_equal(from_json(&modes, "{\"after\":3,\"mode\":\"cut\",\"finish\":true}", &err), 0);
	assert_int_equal(modes.list[0].after, 3);
	assert_true(modes.list[0].finish);
	assert_int_equal(from_json(&modes, "[\"crlf\",{\"mode\":\"stall\",\"pause\":\"20ms\"}]", &err), 0);
	assert_int_equal(modes.count, 2);
	assert_int_equal(modes.list[1].pause_ns, 20 * MS);
	static const char *const wrong[] = {
		"7", "{\"after\":3}", "{\"mode\":\"cut\",\"x\":1}", "[[\"cut\"]]", "{\"mode\":5}", "\"cot\"", "[7]"};
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		ipf_error_clear(&err);
		assert_int_equal(from_json(&modes, wrong[i], &err), -1);
		assert_true(err.kind != IPF_OK && *err.text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options),
		cmocka_unit_test(refused),
		cmocka_unit_test(headers),
		cmocka_unit_test(json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
