/* Events that differ from an earlier one in their text only: which are recognised, and which are not learned. */
#include "unit.h"

#include "api/api.h"
#include "api/event_repeat.h"
#include "stats/rng.h"

#include <string.h>

static const char plain[] =
	"\"text\":[\"/choices/*/delta/content\"],\"reasoning\":[\"/choices/*/delta/reasoning\"],"
	"\"finish\":[\"/choices/*/finish_reason\"],\"error\":[\"/error\"],\"end\":{\"data\":\"[DONE]\"}";
static const char first[] = "{\"id\":7,\"choices\":[{\"delta\":{\"content\":\"one\"},\"finish_reason\":null}]}";

static struct api *open_api(const char *response)
{
	struct buffer descriptor = {0};
	struct ipf_error err = {0};
	struct api *api = NULL;
	buffer_format(
		&descriptor,
		"{\"ipf\":\"api\",\"version\":1,\"name\":\"n\",\"method\":\"POST\",\"path\":\"/\",\"request\":{\"body\":{}},"
		"\"response\":{\"framing\":\"sse\",%s}}",
		response);
	json_t *json = json_loads(descriptor.data, 0, NULL);
	if (api_from_json(&api, json, "test", &err) < 0)
		fail_msg("%s: %s", response, err.text);
	json_decref(json);
	buffer_release(&descriptor);
	return api;
}

/* Learns `event`, whose text has the key "content". */
static bool learn(struct event_repeat *e, const struct api *api, const char *event)
{
	struct ipf_error err = {0};
	struct jdoc doc = {0};
	assert_int_equal(jdoc_parse(&doc, event, strlen(event), &err), 0);
	jdoc_id node = JDOC_NONE;
	for (jdoc_id i = 1; i < doc.count && node == JDOC_NONE; i++)
		if (jdoc_text_is(&doc, i - 1, "content"))
			node = i;
	assert_true(node != JDOC_NONE);
	event_repeat_learn(e, api_response(api, true), &doc, slice_of(event), node);
	jdoc_release(&doc);
	return e->like.data != NULL;
}

/* The same by a descriptor with these members of its response. */
static bool learns(struct event_repeat *e, const char *response, const char *event)
{
	struct api *api = open_api(response);
	bool learned = learn(e, api, event);
	api_close(api);
	return learned;
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

/* Two events are learned, then a third one is looked for. */
static void others(void **state)
{
	static const char counted[] =
		"\"text\":[\"/content\"],\"usage\":{\"output_tokens\":[\"/n\"]},\"end\":{\"eof\":true}";
	static const struct {
		const char *response, *before, *like, *event;
		bool finds;
	} cases[] = {
		{plain, "{\"t\":1,\"content\":\"a\"}", "{\"t\":2,\"content\":\"b\"}", "{\"t\":345,\"content\":\"c\"}", true},
		{plain, "{\"content\":\"a\",\"t\":1}", "{\"content\":\"b\",\"t\":2}", "{\"content\":\"c\",\"t\":0}", true},
		{plain, "{\"content\":\"a\",\"t\":\"x\"}", "{\"content\":\"a\",\"t\":\"y\"}", "{\"content\":\"a\",\"t\":\"\"}",
	     true},
		{plain, "{\"s\":1,\"content\":\"a\",\"t\":\"x\"}", "{\"s\":2,\"content\":\"b\",\"t\":\"y\"}",
	     "{\"s\":3,\"content\":\"c\",\"t\":\"zz\"}", true},
		/* equal parts so far may differ later */
		{plain, "{\"t\":1,\"content\":\"a\"}", "{\"t\":1,\"content\":\"b\"}", "{\"t\":2,\"content\":\"c\"}", false},
		/* not JSON, or of another form */
		{plain, "{\"t\":1,\"content\":\"a\"}", "{\"t\":2,\"content\":\"b\"}", "{\"t\":01,\"content\":\"c\"}", false},
		{plain, "{\"t\":1,\"content\":\"a\"}", "{\"t\":2,\"content\":\"b\"}", "{\"t\":,\"content\":\"c\"}", false},
		{plain, "{\"t\":1,\"content\":\"a\"}", "{\"t\":2,\"content\":\"b\"}", "{\"t\":1.5,\"content\":\"c\"}", false},
		{plain, "{\"t\":1,\"content\":\"a\"}", "{\"t\":2,\"content\":\"b\"}", "{\"t\":\"1\",\"content\":\"c\"}", false},
		{plain, "{\"t\":1,\"content\":\"a\"}", "{\"t\":2,\"content\":\"b\"}", "{\"t\":3,\"content\":\"\"}", false},
		{plain, "{\"t\":\"x\",\"content\":\"a\"}", "{\"t\":\"y\",\"content\":\"b\"}",
	     "{\"t\":\"\\u0000\",\"content\":\"c\"}", false},
		{plain, "{\"t\":\"x\",\"content\":\"a\"}", "{\"t\":\"y\",\"content\":\"b\"}",
	     "{\"t\":\"\xC3\",\"content\":\"c\"}", false},
		{plain, "{\"t\":\"x\",\"content\":\"a\"}", "{\"t\":\"y\",\"content\":\"b\"}",
	     "{\"t\":\"y\",\"error\":1,\"content\":\"c\"}", false},
		{plain, "{\"t\":-1,\"content\":\"a\"}", "{\"t\":-2,\"content\":\"b\"}", "{\"t\":-3,\"content\":\"c\"}", false},
		/* values looked at: by another pointer, by one to text, within a member */
		{counted, "{\"n\":1,\"content\":\"a\"}", "{\"n\":2,\"content\":\"b\"}", "{\"n\":3,\"content\":\"c\"}", false},
		{plain, "{\"delta\":1,\"content\":\"a\"}", "{\"delta\":2,\"content\":\"b\"}", "{\"delta\":3,\"content\":\"c\"}",
	     false},
		{plain, "{\"m\":{\"t\":1},\"content\":\"a\"}", "{\"m\":{\"t\":2},\"content\":\"b\"}",
	     "{\"m\":{\"t\":3},\"content\":\"c\"}", false},
	};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct event_repeat e = {0};
		struct slice piece;
		struct api *api = open_api(cases[i].response);
		assert_true(learn(&e, api, cases[i].before));
		assert_true(learn(&e, api, cases[i].like));
		if (event_repeat_find(&e, slice_of(cases[i].event), &piece) != cases[i].finds)
			fail_msg("%s after %s: expected %d", cases[i].event, cases[i].like, cases[i].finds);
		api_close(api);
	}
}

static void put_event(struct rng *rng, struct buffer *event)
{
	static const char *const texts[] = {"a", "bc", "a longer text of some bytes", "\xC3\xA9", "", "\\n", "\xC3", "\""};
	static const char *const numbers[] = {"1", "23", "456", "0", "01", "-1", "1.5", "", "\"9\""};
	bool odd = rng_below(rng, 8) == 0;
	size_t t = odd ? 8 : 4, n = odd ? 9 : 4;
	buffer_clear(event);
	buffer_format(event, "{\"id\":7,\"seq\":%s,\"content\":\"%s\",\"finish_reason\":%s,\"t\":\"%s\",\"z\":%s}",
	              numbers[rng_below(rng, n)], texts[rng_below(rng, t)], rng_below(rng, 8) ? "null" : "\"stop\"",
	              texts[rng_below(rng, t)], numbers[rng_below(rng, n)]);
}

/* Whatever is found is JSON, has that text, and is like the learned event in all looked at. */
static void random_events(void **state)
{
	struct api *api = open_api("\"text\":[\"/content\"],\"finish\":[\"/finish_reason\"],\"end\":{\"eof\":true}");
	struct event_repeat e = {0};
	struct buffer events[2] = {{0}}, text = {0};
	struct jdoc doc = {0}, like = {0};
	struct rng rng;
	int found = 0;
	(void)state;
	rng_init(&rng, 7, "events", 0);
	for (int i = 0; i < 20000; i++) {
		struct buffer *event = &events[i % 2];
		struct ipf_error err = {0};
		struct slice piece;
		put_event(&rng, event);
		bool json = jdoc_parse(&doc, event->data, event->len, &err) == 0;
		if (event_repeat_find(&e, buffer_all(event), &piece)) {
			found++;
			assert_true(json && jdoc_parse(&like, e.like.data, e.like.len, &err) == 0);
			buffer_clear(&text);
			jdoc_text(&doc, jdoc_get(&doc, JDOC_ROOT, "content"), &text);
			assert_true(slice_equal(piece, buffer_all(&text)));
			assert_true(slice_equal(jdoc_raw(&doc, jdoc_get(&doc, JDOC_ROOT, "finish_reason")),
			                        jdoc_raw(&like, jdoc_get(&like, JDOC_ROOT, "finish_reason"))));
			event_repeat_forget(&e); /* its buffer is used again */
		} else {
			event_repeat_set_aside(&e);
		}
		if (json)
			learn(&e, api, event->data);
		else
			event_repeat_forget(&e);
	}
	assert_true(found > 2000);
	jdoc_release(&doc);
	jdoc_release(&like);
	buffer_release(&events[0]);
	buffer_release(&events[1]);
	buffer_release(&text);
	api_close(api);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(finding), cmocka_unit_test(learning), cmocka_unit_test(others),
	                                   cmocka_unit_test(random_events)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
