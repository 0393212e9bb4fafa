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
		cmocka_unit_test(there_is_a_most),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
