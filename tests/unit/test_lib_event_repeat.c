/* Events that differ from an earlier one in their text only: which are recognised, and which are not learned. */
#include "unit.h"

#include "api/api.h"
#include "api/event_repeat.h"

static const char plain[] =
	"\"text\":[\"/choices/*/delta/content\"],\"reasoning\":[\"/choices/*/delta/reasoning\"],"
	"\"finish\":[\"/choices/*/finish_reason\"],\"error\":[\"/error\"],\"end\":{\"data\":\"[DONE]\"}";
static const char first[] = "{\"id\":7,\"choices\":[{\"delta\":{\"content\":\"one\"},\"finish_reason\":null}]}";

/* Learns `event`, whose text has the key "content", by a descriptor with these members of its response. */
static bool learns(struct event_repeat *e, const char *response, const char *event)
{
	struct buffer descriptor = {0};
	struct ipf_error err = {0};
	struct jdoc doc = {0};
	struct api *api = NULL;
	buffer_format(
		&descriptor,
		"{\"ipf\":\"api\",\"version\":1,\"name\":\"n\",\"method\":\"POST\",\"path\":\"/\",\"request\":{\"body\":{}},"
		"\"response\":{\"framing\":\"sse\",%s}}",
		response);
	json_t *json = json_loads(descriptor.data, 0, NULL);
	if (api_from_json(&api, json, "test", &err) < 0)
		fail_msg("%s: %s", response, err.text);
	assert_int_equal(jdoc_parse(&doc, event, strlen(event), &err), 0);
	jdoc_id node = JDOC_NONE;
	for (jdoc_id i = 1; i < doc.count && node == JDOC_NONE; i++)
		if (jdoc_text_is(&doc, i - 1, "content"))
			node = i;
	assert_true(node != JDOC_NONE);
	event_repeat_learn(e, api_response(api, true), &doc, slice_of(event), node);
	jdoc_release(&doc);
	api_close(api);
	json_decref(json);
	buffer_release(&descriptor);
	return e->like.data != NULL;
}

static void finding(void **state)
{
	static const struct {
		const char *event, *piece; /* NULL: not the same but for its text */
	} cases[] = {
		{"{\"id\":7,\"choices\":[{\"delta\":{\"content\":\"one\"},\"finish_reason\":null}]}", "one"},
		{"{\"id\":7,\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":null}]}", "x"},
		{"{\"id\":7,\"choices\":[{\"delta\":{\"content\":\"a longer text, {[:]}, \xC3\xA9\"},\"finish_reason\":null}]}",
	     "a longer text, {[:]}, \xC3\xA9"},
		{"{\"id\":7,\"choices\":[{\"delta\":{\"content\":\"\"},\"finish_reason\":null}]}", NULL},
		{"{\"id\":8,\"choices\":[{\"delta\":{\"content\":\"one\"},\"finish_reason\":null}]}", NULL},
		{"{\"id\":7,\"choices\":[{\"delta\":{\"content\":\"one\"},\"finish_reason\":true}]}", NULL},
		{"{\"id\":7,\"choices\":[{\"delta\":{\"content\":null},\"finish_reason\":null}]}", NULL},
		{"{\"id\":7,\"choices\":[{\"delta\":{\"content\":\"a\\nb\"},\"finish_reason\":null}]}", NULL},
		{"{\"id\":7,\"choices\":[{\"delta\":{\"content\":\"long enough \\u00e9\"},\"finish_reason\":null}]}", NULL},
		{"{\"id\":7,\"choices\":[{\"delta\":{\"content\":\"a\",\"b\":\"c\"},\"finish_reason\":null}]}", NULL},
		{"{\"id\":7,\"choices\":[{\"delta\":{\"content\":\"long enough\",\"b\":\"c\"},\"finish_reason\":null}]}", NULL},
		{"{\"id\":7,\"choices\":[{\"delta\":{\"content\":\"a\tb\"},\"finish_reason\":null}]}", NULL},
		{"{\"id\":7,\"choices\":[{\"delta\":{\"content\":\"\xC3\"},\"finish_reason\":null}]}", NULL},
		{"{\"id\":7,\"choices\":[{\"delta\":{\"content\":\"o", NULL},
		{"", NULL},
	};
	struct event_repeat e = {0};
	struct slice piece;
	(void)state;
	assert_false(event_repeat_find(&e, slice_of(first), &piece));
	assert_true(learns(&e, plain, first));
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		bool found = event_repeat_find(&e, slice_of(cases[i].event), &piece);
		if (found != (cases[i].piece != NULL) || (found && !slice_is(piece, cases[i].piece)))
			fail_msg("%s: %s", cases[i].event, found ? "found" : "not found");
	}
	event_repeat_forget(&e);
	assert_false(event_repeat_find(&e, slice_of(first), &piece));
}

/* A text that something else may depend on is parsed each time. */
static void learning(void **state)
{
	static const struct {
		const char *response, *event;
		bool learns;
	} cases[] = {
		{plain, first, true},
		{plain, "{\"content\":\"one\"}", true},
		{plain, "{\"content\":\"a\\nb\"}", false},
		{"\"text\":[\"/content\"],\"text_mode\":\"cumulative\",\"end\":{\"eof\":true}", first, false},
		{"\"text\":[\"/content\"],\"end\":{\"when\":[{\"at\":\"/content\",\"is\":\"[END]\"}]}", first, false},
		{"\"text\":[\"/content\"],\"error\":[{\"at\":\"/content/code\",\"is\":1}],\"end\":{\"eof\":true}", first,
	     false},
		{"\"text\":[{\"at\":\"/content\",\"where\":{\"at\":\"/content\",\"is\":\"x\"}}],\"end\":{\"eof\":true}", first,
	     false},
		{"\"text\":[{\"at\":\"/content\",\"where\":{\"at\":\"/type\",\"is\":\"x\"}}],\"end\":{\"eof\":true}", first,
	     true},
		{"\"text\":[\"/list/*[content=x]/text\"],\"end\":{\"eof\":true}", first, false},
		{"\"text\":[\"/list/*[kind=x]/text\"],\"end\":{\"eof\":true}", first, true},
		{"\"text\":[\"/content\"],\"finish\":[\"/content\"],\"end\":{\"eof\":true}", first, false},
		{"\"text\":[\"/content\"],\"usage\":{\"output_tokens\":[\"/content\"]},\"end\":{\"eof\":true}", first, false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct event_repeat e = {0};
		if (learns(&e, cases[i].response, cases[i].event) != cases[i].learns)
			fail_msg("%s with %s: expected %d", cases[i].event, cases[i].response, cases[i].learns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(finding), cmocka_unit_test(learning)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
