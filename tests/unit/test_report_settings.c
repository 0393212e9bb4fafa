/* Which settings of two sides differ, by the headers of all their runs. */
#include "unit.h"

#include "compare/settings.h"

/* An array of headers, each of records with this in it. */
static json_t *side(const char *const *members, size_t count)
{
	json_t *list = json_array();
	char text[400];
	for (size_t i = 0; i < count; i++) {
		snprintf(text, sizeof text, "{\"ipf\":\"results\",\"from\":[{\"ipf\":\"records\",\"tool\":\"x\",%s}]}",
		         members[i]);
		json_t *header = json_loads(text, 0, NULL);
		assert_non_null(header);
		json_array_append_new(list, header);
	}
	return list;
}

#define SIDE(...) side((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void check_list(json_t *base, json_t *value, const char *wanted)
{
	json_t *list = settings_compare(base, value);
	char *text = json_dumps(list, JSON_COMPACT);
	assert_string_equal(text, wanted);
	free(text);
	json_decref(list);
	json_decref(base);
	json_decref(value);
}

static void runs_of_a_side_may_differ(void **state)
{
	(void)state;
	check_list(SIDE("\"http\":\"1.1\""), SIDE("\"http\":\"1.1\""), "[]");
	check_list(SIDE("\"http\":\"1.1\",\"created\":1"), SIDE("\"http\":\"2\",\"created\":2"),
	           "[{\"name\":\"records.http\",\"base\":\"1.1\",\"new\":\"2\"}]");
	/* a run other than the first one */
	check_list(SIDE("\"http\":\"1.1\"", "\"http\":\"1.1\""), SIDE("\"http\":\"1.1\"", "\"http\":\"2\""),
	           "[{\"name\":\"records.http\",\"base\":\"1.1\",\"new\":\"1.1 (run 1); 2 (run 2)\"}]");
	check_list(SIDE("\"http\":\"1.1\"", "\"http\":\"2\"", "\"http\":\"1.1\""), SIDE("\"http\":\"1.1\""),
	           "[{\"name\":\"records.http\",\"base\":\"1.1 (runs 1, 3); 2 (run 2)\",\"new\":\"1.1\"}]");
	/* the same share of the runs of both sides */
	check_list(SIDE("\"seed\":1", "\"seed\":2"), SIDE("\"seed\":2", "\"seed\":1"), "[]");
	check_list(SIDE("\"seed\":1", "\"seed\":2"), SIDE("\"seed\":2", "\"seed\":1", "\"seed\":1", "\"seed\":2"), "[]");
	/* a value that some runs do not have, and a side that has none */
	check_list(SIDE("\"seed\":1", "\"other\":0"), SIDE("\"seed\":1,\"other\":0"),
	           "[{\"name\":\"records.seed\",\"base\":\"1 (run 1); - (run 2)\",\"new\":\"1\"},"
	           "{\"name\":\"records.other\",\"base\":\"- (run 1); 0 (run 2)\",\"new\":\"0\"}]");
	check_list(SIDE("\"seed\":1"), SIDE("\"x\":\"y\""),
	           "[{\"name\":\"records.seed\",\"base\":\"1\"},{\"name\":\"records.x\",\"new\":\"y\"}]");
}

/* Definitions are named once, whoever applied them. */
static void definitions_are_named(void **state)
{
	(void)state;
	json_t *base = json_pack("[{s:s}]", "ipf", "results"),
		   *value = json_pack("[{s:s, s:{s:s, s:s, s:{}}}]", "ipf", "results", "definition", "tool", "vllm", "version",
	                          "0.11", "rules");
	check_list(json_incref(base), json_incref(value),
	           "[{\"name\":\"definitions\",\"base\":\"ipf\",\"new\":\"vllm 0.11\"}]");
	check_list(json_incref(value), json_incref(value), "[]");
	json_t *imported = json_pack("[{s:s, s:{s:s}, s:i}]", "ipf", "results", "imported", "tool", "AIPerf", "only", 1);
	check_list(json_incref(base), json_incref(imported),
	           "[{\"name\":\"definitions\",\"base\":\"ipf\",\"new\":\"AIPerf\"}]");
	json_decref(base);
	json_decref(value);
	json_decref(imported);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(runs_of_a_side_may_differ),
		cmocka_unit_test(definitions_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
