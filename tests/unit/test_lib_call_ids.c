/* Ids of tool calls and of their results in a conversation. */
#include "unit.h"

#include "requests/call_ids.h"

#include <jansson.h>
#include <string.h>

static void repaired(const char *messages, enum call_ids_rule rule, const char *expected)
{
	struct call_ids ids = {0};
	for (int again = 0; again < 2; again++) { /* the same with memory that has been used */
		struct slice got = call_ids_repair(&ids, slice_of(messages), rule);
		assert_true(slice_is(got, expected ? expected : messages));
		assert_true((got.data == messages) == !expected);
	}
	call_ids_release(&ids);
}

#define CALLS(calls_)         "{\"role\":\"assistant\",\"tool_calls\":[" calls_ "]}"
#define CALL(id_)             "{\"id\":\"" id_ "\",\"function\":{\"name\":\"f\"}}"
#define NO_ID(name_)          "{\"function\":{\"name\":\"" name_ "\"}}"
#define NEW_ID(name_, id_)    "{\"function\":{\"name\":\"" name_ "\"},\"id\":\"" id_ "\"}"
#define RESULT(id_, content_) "{\"role\":\"tool\",\"tool_call_id\":\"" id_ "\",\"content\":\"" content_ "\"}"

static void right_ids_stay(void **state)
{
	(void)state;
	repaired("[]", CALL_IDS_ANY, NULL);
	repaired("[{\"role\":\"user\",\"content\":\"\\\"tool_calls\\\"\"}]", CALL_IDS_ANY, NULL);
	repaired("[ " CALLS(CALL("a") "," CALL("b:1")) " , " RESULT("b:1", "") "," RESULT("c", "") "]", CALL_IDS_ANY, NULL);
	repaired("[" CALLS(CALL("a-_Z9")) "]", CALL_IDS_WORD, NULL);
	repaired("{\"tool_calls\":", CALL_IDS_WORD, NULL);
	repaired("{\"tool_calls\":[7]}", CALL_IDS_WORD, NULL);
}

static void missing_ids(void **state)
{
	(void)state;
	repaired(
		"[" CALLS(NO_ID("f") "," NO_ID("g")) ",{\"role\":\"tool\",\"name\":\"g\"},{\"role\":\"tool\"}]", CALL_IDS_ANY,
		"[" CALLS(NEW_ID("f", "call00001") "," NEW_ID(
			"g", "call00002")) ",{\"role\":\"tool\",\"name\":\"g\","
							   "\"tool_call_id\":\"call00002\"},{\"role\":\"tool\",\"tool_call_id\":\"call00001\"}]");
	/* empty and null ones; a result naming no call is of the one without an id */
	repaired("[" CALLS("{\"id\":null},{\"id\":\"\"}") "," RESULT("lost", "1") "]", CALL_IDS_WORD,
	         "[" CALLS("{\"id\":\"call00001\"},{\"id\":\"call00002\"}") "," RESULT("call00001", "1") "]");
	/* the number is taken */
	repaired("[" CALLS(CALL("call00002") "," NO_ID("f")) "]", CALL_IDS_ANY,
	         "[" CALLS(CALL("call00002") "," NEW_ID("f", "call00003")) "]");
}

static void ids_that_occur_twice(void **state)
{
	(void)state;
	repaired("[" CALLS(CALL("a") "," CALL("a")) "," RESULT("a", "1") "," RESULT("a", "2") "]", CALL_IDS_ANY,
	         "[" CALLS(CALL("a") "," CALL("call00002")) "," RESULT("a", "1") "," RESULT("call00002", "2") "]");
	/* a later message's: its results are of its own calls, and a second one is too */
	repaired(
		"[" CALLS(CALL("a")) "," RESULT("a", "1") "," CALLS(CALL("a")) "," RESULT("a", "2") "," RESULT("a", "3") "]",
		CALL_IDS_ANY,
		"[" CALLS(CALL("a")) "," RESULT("a", "1") "," CALLS(CALL("call00002")) "," RESULT("call00002", "2") "," RESULT(
			"call00002", "3") "]");
	/* results of both after both */
	repaired(
		"[" CALLS(CALL("a")) "," CALLS(CALL("b")) "," CALLS(NO_ID("f")) "," RESULT("a", "") "," RESULT("b", "") "]",
		CALL_IDS_ANY,
		"[" CALLS(CALL("a")) "," CALLS(CALL("b")) "," CALLS(NEW_ID("f", "call00003")) "," RESULT("a", "") "," RESULT(
			"b", "") "]");
}

static void characters(void **state)
{
	(void)state;
	repaired("[" CALLS(CALL("a.b") "," CALL("a:b") "," CALL("a_b")) "," RESULT("a_b", "") "," RESULT("a.b", "") "]",
	         CALL_IDS_WORD,
	         "[" CALLS(CALL("a_b") "," CALL("call00002") "," CALL("call00003")) "," RESULT("call00003", "") "," RESULT(
				 "a_b", "") "]");
}

/* ---- random conversations ---- */

static const char *id_of(json_t *map, const char *member)
{
	const char *id = json_string_value(json_object_get(map, member));
	return id ? id : "";
}

static json_t *random_conversation(uint64_t *seed)
{
	static const char *const texts[] = {"a", "b", "a:b", "a_b", "call00003", "", "é"};
	json_t *list = json_array();
	for (size_t turns = 1 + test_random(seed) % 5; turns > 0; turns--) {
		json_t *calls = json_array();
		for (size_t n = 1 + test_random(seed) % 4; n > 0; n--) {
			json_t *call = json_pack("{s:{s:s}}", "function", "name", test_random(seed) % 2 ? "f" : "g");
			if (test_random(seed) % 4)
				json_object_set_new(call, "id", json_string(texts[test_random(seed) % 7]));
			json_array_append_new(calls, call);
		}
		json_t *results = json_array(), *call;
		size_t i;
		json_array_foreach(calls, i, call)
		{
			json_t *result = json_pack("{s:s, s:O}", "role", "tool", "name",
			                           json_object_get(json_object_get(call, "function"), "name"));
			if (json_object_get(call, "id"))
				json_object_set(result, "tool_call_id", json_object_get(call, "id"));
			json_array_append_new(results, result);
		}
		json_array_append_new(list, json_pack("{s:s, s:o}", "role", "assistant", "tool_calls", calls));
		json_array_extend(list, results);
		json_decref(results);
	}
	return list;
}

/* All ids are different, each call has one result, of its function, and the beginning of a conversation is the same
 * whatever follows. */
static void ids_are_unique_and_stay(void **state)
{
	(void)state;
	uint64_t seed = test_seed("ids_are_unique_and_stay");
	for (int round = 0; round < 1000; round++) {
		const enum call_ids_rule rule = test_random(&seed) % 2 ? CALL_IDS_WORD : CALL_IDS_ANY;
		struct call_ids ids = {0};
		json_t *list = random_conversation(&seed), *used = json_object(), *message, *call;
		char *text = json_dumps(list, JSON_COMPACT);
		struct slice got = call_ids_repair(&ids, slice_of(text), rule);
		json_t *sent = json_loadb(got.data, got.len, 0, NULL);
		size_t i, k;
		assert_int_equal(json_array_size(sent), json_array_size(list));
		json_array_foreach(sent, i, message) json_array_foreach(json_object_get(message, "tool_calls"), k, call)
		{
			const char *id = id_of(call, "id"),
					   *name = json_string_value(json_object_get(json_object_get(call, "function"), "name"));
			assert_true(*id && !json_object_get(used, id));
			assert_true(rule == CALL_IDS_ANY || strspn(id, "abcdefghijklmnopqrstuvwxyz_-0123456789") == strlen(id));
			json_object_set_new(used, id, json_string(name));
		}
		json_array_foreach(sent, i, message) if (strcmp(id_of(message, "role"), "tool") == 0)
		{
			const char *id = id_of(message, "tool_call_id");
			assert_string_equal(json_string_value(json_object_get(used, id)), id_of(message, "name"));
			json_object_del(used, id);
		}
		assert_int_equal(json_object_size(used), 0);
		while (json_array_size(list) > 1) {
			json_array_remove(list, json_array_size(list) - 1);
			json_array_remove(sent, json_array_size(sent) - 1);
			char *part = json_dumps(list, JSON_COMPACT);
			got = call_ids_repair(&ids, slice_of(part), rule);
			json_t *again = json_loadb(got.data, got.len, 0, NULL);
			assert_true(json_equal(again, sent));
			json_decref(again);
			free(part);
		}
		json_decref(used);
		json_decref(sent);
		json_decref(list);
		free(text);
		call_ids_release(&ids);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(right_ids_stay),          cmocka_unit_test(missing_ids),
		cmocka_unit_test(ids_that_occur_twice),    cmocka_unit_test(characters),
		cmocka_unit_test(ids_are_unique_and_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
