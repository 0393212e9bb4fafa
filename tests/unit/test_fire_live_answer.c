/* The server's answer and the recorded results of its calls: whatever both are, the conversation is one that strict
 * servers take. */
#include "unit.h"

#include "body/live_answer.h"
#include "stats/rng.h"

#include <jansson.h>
#include <string.h>

static const char *const tools[] = {"find", "read", "write"};

static void put_call(struct live_answer *a, uint64_t tool, uint64_t argument)
{
	struct tool_calls *c = &a->calls;
	if (c->count == c->cap) {
		c->cap = c->cap ? 2 * c->cap : 4;
		c->list = realloc(c->list, c->cap * sizeof *c->list);
		assert_non_null(c->list);
	}
	struct tool_call *call = &c->list[c->count++];
	*call = (struct tool_call){.index = (int64_t)c->count - 1};
	buffer_format(&call->id, "live-%zu", c->count - 1);
	buffer_text(&call->name, tools[tool]);
	buffer_format(&call->arguments, "{\"a\": %d}", (int)argument);
}

/* Messages beginning with `calls` recorded calls, as many results of them, and the user's message. */
static void put_own(struct rng *rng, uint64_t calls, bool user, struct buffer *own)
{
	buffer_clear(own);
	buffer_text(own, "[{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[");
	for (uint64_t i = 0; i < calls; i++)
		buffer_format(
			own,
			"%s{\"id\":\"old-%d\",\"type\":\"function\",\"function\":{\"name\":\"%s\",\"arguments\":\"{\\\"a\\\":%d}\"}}",
			i ? "," : "", (int)i, tools[rng_below(rng, 3)], (int)rng_below(rng, 3));
	buffer_text(own, "]}");
	for (uint64_t i = 0; i < calls; i++)
		buffer_format(own, ",{\"role\":\"tool\",\"content\":\"r%d\",\"tool_call_id\":\"old-%d\"}", (int)i, (int)i);
	buffer_text(own, user ? ",{\"role\":\"user\",\"content\":\"go on\"}]" : "]");
}

static const char *text_of(json_t *map, const char *member)
{
	const char *text = json_string_value(json_object_get(map, member));
	return text ? text : "";
}

/* Has every call one result following it, and every result a call? */
static void check_strict(const char *list)
{
	json_t *all = json_loads(list, 0, NULL), *message, *call;
	size_t i, k;
	assert_non_null(all);
	json_t *open = json_object();
	json_array_foreach(all, i, message)
	{
		if (strcmp(text_of(message, "role"), "tool") == 0) {
			assert_non_null(json_object_get(open, text_of(message, "tool_call_id")));
			json_object_del(open, text_of(message, "tool_call_id"));
			continue;
		}
		assert_int_equal(json_object_size(open), 0);
		json_array_foreach(json_object_get(message, "tool_calls"), k, call)
			json_object_set_new(open, text_of(call, "id"), json_true());
	}
	assert_int_equal(json_object_size(open), 0);
	json_decref(open);
	json_decref(all);
}

static void conversations_are_valid(void **state)
{
	struct rng rng;
	struct buffer own = {0}, sent = {0}, messages = {0}, whole = {0};
	int live = 0, recorded = 0;
	(void)state;
	rng_init(&rng, 3, "answers", 0);
	for (int i = 0; i < 5000; i++) {
		struct live_answer a = {.text = {0}};
		struct live_answer_counts counts = {0};
		struct trace_request q = {.messages = {0}};
		uint64_t calls = rng_below(&rng, 4), made = rng_below(&rng, 4);
		put_own(&rng, calls, rng_below(&rng, 2), &own);
		q.messages = buffer_all(&own);
		for (uint64_t k = 0; k < made; k++)
			put_call(&a, rng_below(&rng, 3), rng_below(&rng, 3));
		if (rng_below(&rng, 2))
			buffer_text(&a.text, "text");
		buffer_clear(&messages);
		buffer_text(&messages, "{\"role\":\"user\",\"content\":\"first\"}");
		const size_t before = messages.len;
		assert_true(live_answer_recorded(&q));
		bool used = live_answer_continue(&a, &q, false, &messages, &sent, &counts);
		live += used;
		recorded += !used;
		if (used) {
			assert_int_equal(counts.calls + counts.calls_left_out, made);
			assert_int_equal(counts.calls + counts.results_left_out, calls);
			buffer_clear(&whole);
			buffer_format(&whole, "[%s,%s", messages.data, sent.data + 1);
			check_strict(whole.data);
		} else {
			assert_true(messages.len == before && !sent.len && !counts.calls);
		}
		live_answer_release(&a);
	}
	assert_true(live > 1000 && recorded > 200);
	buffer_release(&own);
	buffer_release(&sent);
	buffer_release(&messages);
	buffer_release(&whole);
}

/* Without recorded calls, as after any answer of text. */
static void a_text_needs_none(void **state)
{
	struct live_answer a = {.text = {0}};
	struct live_answer_counts counts = {0};
	struct buffer messages = {0}, own = {0};
	struct trace_request q = {.messages = slice_of("[{\"role\":\"user\",\"content\":\"and?\"}]")};
	(void)state;
	assert_false(live_answer_recorded(&q));
	assert_false(live_answer_continue(&a, &q, false, &messages, &own, &counts));
	put_call(&a, 0, 0);
	assert_false(live_answer_continue(&a, &q, false, &messages, &own, &counts));
	buffer_text(&a.text, "a \"text\"");
	buffer_text(&a.reasoning, "hm");
	assert_true(live_answer_continue(&a, &q, false, &messages, &own, &counts));
	assert_string_equal(messages.data, "{\"role\":\"assistant\",\"content\":\"a \\\"text\\\"\"}");
	assert_string_equal(own.data, q.messages.data);
	assert_int_equal(counts.calls_left_out, 1);
	assert_true(live_answer_continue(&a, &q, true, &messages, &own, &counts));
	assert_non_null(
		strstr(messages.data, ",{\"role\":\"assistant\",\"content\":\"a \\\"text\\\"\",\"reasoning_content\":\"hm\"}"));
	/* a prompt instead of messages */
	q = (struct trace_request){.prompt = slice_of("\"and?\"")};
	buffer_clear(&messages);
	assert_true(live_answer_continue(&a, &q, false, &messages, &own, &counts));
	assert_int_equal(own.len, 0);
	buffer_release(&messages);
	buffer_release(&own);
	live_answer_release(&a);
}

/* The next turn's own ids follow those of the answer, whatever text that is. */
static void ids_continue(void **state)
{
	(void)state;
	struct live_answer a = {0};
	struct live_answer_counts counts = {0};
	struct buffer context = {0}, own = {0};
	struct response r = {0};
	const struct trace_request q = {.prompt_token_ids = slice_of("[7, 8]")};
	buffer_text(&r.text, "some text");
	assert_false(live_answer_take(&a, &r, true));
	buffer_text(&context, "1,2");
	assert_false(live_answer_continue(&a, &q, false, &context, &own, &counts));
	assert_string_equal(context.data, "1,2");
	buffer_text(&r.output_ids, "3,4");
	assert_true(live_answer_take(&a, &r, true));
	assert_true(live_answer_is_text(&a));
	assert_true(live_answer_continue(&a, &q, false, &context, &own, &counts));
	assert_true(slice_is(buffer_all(&context), "1,2,3,4"));
	assert_int_equal(own.len, 0);
	buffer_clear(&context);
	assert_true(live_answer_continue(&a, &q, false, &context, &own, &counts));
	assert_true(slice_is(buffer_all(&context), "3,4"));
	response_release(&r);
	live_answer_release(&a);
	buffer_release(&context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_continue),
		cmocka_unit_test(conversations_are_valid),
		cmocka_unit_test(a_text_needs_none),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
