#include "unit.h"

#include "absent.h"
#include "api/api.h"
#include "api/tool_calls.h"

#include <string.h>

static void add(struct tool_calls *calls, const char *event)
{
	struct ipf_error err = {0};
	struct api *api = NULL;
	struct jdoc doc = {0};
	assert_int_equal(api_open(&api, "openai-chat", &err), 0);
	assert_int_equal(jdoc_parse(&doc, event, strlen(event), &err), 0);
	tool_calls_add(calls, &api_response(api, true)->calls, &doc);
	jdoc_release(&doc);
	api_close(api);
}

static void has(const struct tool_calls *calls, size_t i, const char *id, const char *name, const char *arguments)
{
	assert_true(i < calls->count);
	assert_true(slice_is(buffer_all(&calls->list[i].id), id));
	assert_true(slice_is(buffer_all(&calls->list[i].name), name));
	assert_true(slice_is(buffer_all(&calls->list[i].arguments), arguments));
}

#define DELTA(calls_) "{\"choices\":[{\"delta\":{\"tool_calls\":[" calls_ "]}}]}"

static void pieces_are_joined(void **state)
{
	struct tool_calls calls = {0};
	(void)state;
	add(&calls, DELTA("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"find\",\"arguments\":\"\"}}"));
	add(&calls, DELTA("{\"index\":1,\"id\":\"b\",\"function\":{\"name\":\"read\",\"arguments\":\"{\\\"f\\\"\"}}"));
	add(&calls, "{\"choices\":[{\"delta\":{\"content\":\"meanwhile\"}}]}");
	add(&calls,
	    DELTA(
			"{\"index\":0,\"function\":{\"arguments\":\"{}\"}},{\"index\":1,\"id\":\"late\",\"function\":{\"arguments\":\":1}\"}}"));
	assert_int_equal(calls.count, 2);
	has(&calls, 0, "a", "find", "{}");
	has(&calls, 1, "b", "read", "{\"f\":1}");
	tool_calls_clear(&calls);
	assert_int_equal(calls.count, 0);
	tool_calls_release(&calls);
}

static void calls_without_an_index(void **state)
{
	struct tool_calls calls = {0};
	(void)state;
	add(&calls, DELTA("{\"function\":{\"arguments\":\"belongs to none\"}},7,null"));
	assert_int_equal(calls.count, 0);
	add(&calls,
	    DELTA(
			"{\"id\":\"a\",\"function\":{\"name\":\"find\",\"arguments\":{\"q\":[1,2]}}},{\"function\":{\"name\":\"go\"}}"));
	add(&calls, DELTA("{\"function\":{\"arguments\":\"on\"}}"));
	assert_int_equal(calls.count, 2);
	has(&calls, 0, "a", "find", "{\"q\":[1,2]}");
	has(&calls, 1, "", "go", "on");
	tool_calls_release(&calls);
}

static void calls_of_several_choices_are_apart(void **state)
{
	struct tool_calls calls = {0};
	(void)state;
	add(&calls,
	    "{\"choices\":[{\"index\":1,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"b\",\"function\":{\"name\":\"find\"}}]}}]}");
	add(&calls,
	    "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"read\"}}]}},"
	    "{\"index\":1,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{}\"}}]}}]}");
	/* without an index: the latest of its own choice */
	add(&calls, "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"function\":{\"arguments\":\"[]\"}}]}}]}");
	assert_int_equal(calls.count, 2);
	has(&calls, 0, "b", "find", "{}");
	has(&calls, 1, "a", "read", "[]");
	assert_int_equal(calls.list[0].choice, 1);
	tool_calls_keep_one_choice(&calls);
	assert_int_equal(calls.count, 1);
	has(&calls, 0, "a", "read", "[]");
	tool_calls_release(&calls);
}

static void a_choice_has_one_function_call(void **state)
{
	struct tool_calls calls = {0};
	(void)state;
	for (int i = 0; i < 2; i++) {
		add(&calls, "{\"choices\":[{\"index\":0,\"delta\":{\"function_call\":{\"name\":\"find\"}}}]}");
		add(&calls, "{\"choices\":[{\"index\":1,\"delta\":{\"function_call\":{\"arguments\":\"1\"}}}]}");
	}
	assert_int_equal(calls.count, 2);
	has(&calls, 0, "", "findfind", "");
	has(&calls, 1, "", "", "11");
	/* beside a call of the list, which has an index or none */
	add(&calls, "{\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"go\"}},"
	            "{\"function\":{\"name\":\"on\"}}]}}]}");
	assert_int_equal(tool_calls_count(&calls), 4);
	tool_calls_release(&calls);
}

static void empty_texts_are_no_call(void **state)
{
	struct tool_calls calls = {0};
	(void)state;
	add(&calls, DELTA("{\"index\":0,\"function\":{\"name\":\"\",\"arguments\":\"\"}},{\"function\":{\"name\":\"\"}}"));
	add(&calls, "{\"choices\":[{\"delta\":{\"function_call\":{\"name\":\"\"}}}]}");
	assert_int_equal(calls.count, 0);
	add(&calls, DELTA("{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"\"}}"));
	assert_int_equal(tool_calls_count(&calls), 0); /* an id alone */
	add(&calls, DELTA("{\"index\":0,\"function\":{\"arguments\":\"{}\"}}"));
	assert_int_equal(tool_calls_count(&calls), 1);
	has(&calls, 0, "a", "", "{}");
	tool_calls_release(&calls);
}

static void there_is_a_most(void **state)
{
	struct tool_calls calls = {0};
	struct buffer event = {0};
	(void)state;
	buffer_text(&event, "{\"choices\":[{\"delta\":{\"tool_calls\":[");
	for (int i = 0; i < TOOL_CALLS_MOST + 5; i++)
		buffer_format(&event, "%s{\"index\":%d,\"function\":{\"name\":\"f\"}}", i ? "," : "", i);
	buffer_text(&event, "]}}]}");
	add(&calls, event.data);
	assert_int_equal(calls.count, TOOL_CALLS_MOST);
	assert_int_equal(calls.list[TOOL_CALLS_MOST - 1].index, TOOL_CALLS_MOST - 1);
	buffer_release(&event);
	tool_calls_release(&calls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pieces_are_joined),
		cmocka_unit_test(calls_without_an_index),
		cmocka_unit_test(calls_of_several_choices_are_apart),
		cmocka_unit_test(a_choice_has_one_function_call),
		cmocka_unit_test(empty_texts_are_no_call),
		cmocka_unit_test(there_is_a_most),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
