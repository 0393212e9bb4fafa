/* JSON Schema: which values are valid and why others are not, which schemas are refused, and the limits of a check.
 * cli/check-output holds more schemas against python3-jsonschema. */
#include "unit.h"

#include "json_schema/decimal.h"
#include "json_schema/json_schema.h"

#include <stdlib.h>

static struct json_schema_finding check_bytes(const char *schema, struct slice value)
{
	struct json_schema *s;
	struct ipf_error err = {0};
	struct jdoc doc = {0};
	struct json_schema_finding finding;
	if (json_schema_new(&s, slice_of(schema), &err) < 0)
		fail_msg("%s: %s", schema, err.text);
	if (jdoc_parse(&doc, value.data, value.len, &err) < 0)
		fail_msg("%s", err.text);
	json_schema_check(s, &doc, &finding);
	json_schema_free(s);
	jdoc_release(&doc);
	return finding;
}

/* "" is valid. */
static void is(const char *schema, const char *value, const char *reason)
{
	struct json_schema_finding finding = check_bytes(schema, slice_of(value));
	if (strcmp(finding.reason, reason) != 0)
		fail_msg("%s of %s: expected \"%s\", got \"%s\"", value, schema, reason, finding.reason);
	assert_int_equal(finding.validity, *reason ? JSON_INVALID : JSON_VALID);
}

static void reasons_name_the_place(void **state)
{
	(void)state;
	const char *person = "{\"type\":\"object\",\"required\":[\"name\",\"tags\"],\"additionalProperties\":false,"
						 "\"properties\":{\"name\":{\"type\":\"string\",\"minLength\":2},\"age\":{\"type\":\"integer\","
						 "\"minimum\":0},\"tags\":{\"type\":\"array\",\"items\":{\"enum\":[\"a\",\"b/c\"]}}}}";
	is(person, "{\"name\":\"Ada\",\"age\":36.0,\"tags\":[\"a\",\"b\\/c\"]}", "");
	is(person, "[]", "/: expected the type \"object\"");
	is(person, "{\"name\":\"Ada\"}", "/: \"tags\" is missing");
	is(person, "{\"name\":\"é\",\"tags\":[]}", "/name: shorter than 2");
	is(person, "{\"name\":\"Ada\",\"age\":-1,\"tags\":[]}", "/age: below the minimum 0");
	is(person, "{\"name\":\"Ada\",\"age\":1.5,\"tags\":[]}", "/age: expected the type \"integer\"");
	is(person, "{\"name\":\"Ada\",\"tags\":[\"a\",\"c\"]}", "/tags/1: not in enum");
	is(person, "{\"name\":\"Ada\",\"tags\":[],\"a/b~\":1}", "/a~1b~0: not among the properties");
	is(person, "{\"name\":\"Ada\",\"tags\":[],\"x\\u001b[1m\":1}", "/x\\x1b[1m: not among the properties");
}

static void keywords_hold(void **state)
{
	(void)state;
	static const char *const cases[][3] = {
		{"{\"const\":{\"a\":[1,2.0]}}", "{\"a\":[1.0,2]}", "{\"a\":[2,1]}"},
		{"{\"multipleOf\":0.01}", "4.35", "4.351"},
		{"{\"exclusiveMaximum\":10}", "9.9999999999999999999", "1e1"},
		{"{\"maxLength\":2}", "\"\\ud83d\\ude00x\"", "\"abc\""},
		{"{\"pattern\":\"^a.$|z\"}", "\"xyz\"", "\"aé\\n\""},
		{"{\"uniqueItems\":true}", "[1,\"1\",[1],{\"a\":1,\"b\":2}]", "[{\"a\":1,\"b\":2},{\"b\":2,\"a\":1.0}]"},
		{"{\"prefixItems\":[{\"type\":\"null\"}],\"items\":false}", "[null]", "[null,1]"},
		{"{\"items\":[{\"type\":\"null\"}],\"additionalItems\":false}", "[null]", "[null,1]"},
		{"{\"contains\":{\"const\":1},\"maxContains\":1}", "[1,2]", "[1,1]"},
		{"{\"contains\":{\"const\":1},\"minContains\":0}", "[2]", NULL},
		{"{\"patternProperties\":{\"^x\":{\"type\":\"null\"}}}", "{\"y\":1}", "{\"xy\":1}"},
		{"{\"propertyNames\":{\"maxLength\":1}}", "{\"y\":1}", "{\"xy\":1}"},
		{"{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1,\"b\":1}", "{\"a\":1}"},
		{"{\"dependencies\":{\"a\":[\"b\"],\"c\":{\"required\":[\"d\"]}}}", "{\"b\":1}", "{\"c\":1}"},
		{"{\"anyOf\":[{\"type\":\"null\"},{\"minimum\":3}]}", "null", "2"},
		{"{\"oneOf\":[{\"minimum\":1},{\"minimum\":3}]}", "2", "3"},
		{"{\"not\":{\"type\":\"null\"}}", "1", "null"},
		{"{\"if\":{\"minimum\":3},\"then\":{\"maximum\":4},\"else\":{\"maximum\":1}}", "4", "2"},
		{"{\"$defs\":{\"n\":{\"type\":\"object\",\"properties\":{\"next\":{\"$ref\":\"#/$defs/n\"}}}},\"$ref\":\"#/$defs/n\"}",
	     "{\"next\":{\"next\":{}}}", "{\"next\":{\"next\":1}}"},
		{"{\"$ref\":\"#b\",\"$defs\":{\"a%b\":{\"$anchor\":\"b\",\"type\":\"null\"}}}", "null", "1"},
		{"{\"$id\":\"http://h/a/b\",\"$ref\":\"c\",\"$defs\":{\"x\":{\"$id\":\"c\",\"type\":\"null\"}}}", "null", "1"},
		{"{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"$ref\":\"#/definitions/a\",\"type\":\"string\","
	     "\"definitions\":{\"a\":{\"type\":\"null\"}}}",
	     "null", "\"\""},
		{"{\"allOf\":[{\"properties\":{\"a\":true}}],\"unevaluatedProperties\":false}", "{\"a\":1}", "{\"b\":1}"},
		{"{\"anyOf\":[{\"prefixItems\":[true]},{\"prefixItems\":[true,true]}],\"unevaluatedItems\":false}", "[1,2]",
	     "[1,2,3]"},
		{"{\"format\":\"date\",\"unknown\":1}", "\"x\"", NULL},
		{"true", "1", NULL},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct json_schema_finding good = check_bytes(cases[i][0], slice_of(cases[i][1]));
		if (good.validity != JSON_VALID)
			fail_msg("%s of %s: %s", cases[i][1], cases[i][0], good.reason);
		if (cases[i][2] && check_bytes(cases[i][0], slice_of(cases[i][2])).validity != JSON_INVALID)
			fail_msg("%s of %s is valid", cases[i][2], cases[i][0]);
	}
}

static void schemas_are_refused(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{"{\"type\":\"text\"}", "/type: expected the name of a type, got \"text\""},
		{"{\"properties\":{\"a\":{\"minLength\":-1}}}",
	     "/properties/a/minLength: expected an integer of 0 or more, got -1"},
		{"{\"items\":{\"$ref\":\"other.json\"}}",
	     "/items/$ref: expected a place in this schema (nothing is fetched), got \"other.json\""},
		{"{\"$ref\":\"#/$defs/a\"}", "/$ref: \"#/$defs/a\" is not in the schema"},
		{"{\"$dynamicRef\":\"#a\"}", "/$dynamicRef: this keyword is not supported"},
		{"{\"exclusiveMinimum\":true}", "/exclusiveMinimum: expected a number, got true"},
		{"{\"multipleOf\":0}", "/multipleOf: expected a number above 0 of at most 18 digits, got 0"},
		{"{\"pattern\":\"(\"}",
	     "/pattern: expected a regular expression, got \"(\" (missing closing parenthesis at 1)"},
		{"{\"anyOf\":[]}", "/anyOf: expected a list of schemas, got []"},
		{"{\"required\":\"a\"}", "/required: expected a list of names, got \"a\""},
		{"[]", "the schema: expected a schema (an object, true or false), got []"},
		{"{", "not JSON: unexpected end at byte 1"},
		{"{\"$schema\":\"http://h/own\"}", "/$schema: expected a draft of json-schema.org, got \"http://h/own\""},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct json_schema *s;
		struct ipf_error err = {0};
		assert_int_equal(json_schema_new(&s, slice_of(cases[i][0]), &err), -1);
		assert_null(s);
		assert_string_equal(err.text, cases[i][1]);
	}
}

/* Neither a schema nor a value makes a check endless. */
static void checks_are_bounded(void **state)
{
	(void)state;
	struct buffer deep = {0}, schema = {0};
	assert_int_equal(check_bytes("{\"$ref\":\"#\"}", slice_of("1")).validity, JSON_UNDECIDED);
	assert_int_equal(check_bytes("{\"not\":{\"$ref\":\"#\"}}", slice_of("1")).validity, JSON_UNDECIDED);
	for (int i = 0; i < 500; i++)
		buffer_byte(&deep, '[');
	for (int i = 0; i < 500; i++)
		buffer_byte(&deep, ']');
	assert_int_equal(check_bytes("{\"items\":{\"$ref\":\"#\"}}", buffer_all(&deep)).validity, JSON_VALID);
	assert_int_equal(
		check_bytes(
			"{\"anyOf\":[{\"items\":{\"$ref\":\"#\"},\"minItems\":1},{\"items\":{\"$ref\":\"#\"},\"minItems\":1}]}",
			buffer_all(&deep))
			.validity,
		JSON_UNDECIDED);
	buffer_clear(&deep);
	buffer_byte(&deep, '"');
	for (int i = 0; i < 40; i++)
		buffer_byte(&deep, 'a');
	buffer_text(&deep, "!\"");
	assert_int_equal(check_bytes("{\"pattern\":\"^(a+)+$\"}", buffer_all(&deep)).validity, JSON_UNDECIDED);
	for (int i = 0; i < JSON_SCHEMA_BYTES_MAX; i++)
		buffer_byte(&schema, ' ');
	buffer_text(&schema, "{}");
	struct json_schema *s;
	struct ipf_error err = {0};
	assert_int_equal(json_schema_new(&s, buffer_all(&schema), &err), -1);
	assert_string_equal(err.text, "expected a schema of at most 1048576 bytes, got 1048578");
	buffer_release(&deep);
	buffer_release(&schema);
}

static void numbers_are_exact(void **state)
{
	(void)state;
	static const char *const rising[] = {"-1e400",
	                                     "-10",
	                                     "-9.99",
	                                     "-0.5e-3",
	                                     "-0",
	                                     "1e-400",
	                                     "0.09999",
	                                     "0.1",
	                                     "1",
	                                     "1.5",
	                                     "15",
	                                     "150",
	                                     "1e99999999999999999999"};
	static const char *const equal[][2] = {
		{"1", "1.000"}, {"100", "1e2"}, {"0.10", "1E-1"}, {"0", "-0.0e7"}, {"12.50", "0.125e+2"}};
	for (size_t i = 0; i < sizeof rising / sizeof *rising; i++)
		for (size_t j = 0; j < sizeof rising / sizeof *rising; j++) {
			struct decimal a = decimal_of(slice_of(rising[i])), b = decimal_of(slice_of(rising[j]));
			int order = decimal_compare(&a, &b);
			assert_int_equal((order > 0) - (order < 0), (i > j) - (i < j));
		}
	for (size_t i = 0; i < sizeof equal / sizeof *equal; i++) {
		struct decimal a = decimal_of(slice_of(equal[i][0])), b = decimal_of(slice_of(equal[i][1]));
		assert_int_equal(decimal_compare(&a, &b), 0);
		assert_true(decimal_hash(&a, 7) == decimal_hash(&b, 7));
	}
	for (int i = 1; i < 300; i++)
		for (int j = 1; j < 40; j++) {
			char left[32], right[32];
			snprintf(left, sizeof left, "%d.%02d", i / 100, i % 100);
			snprintf(right, sizeof right, "%de-2", j);
			struct decimal a = decimal_of(slice_of(left)), b = decimal_of(slice_of(right));
			assert_int_equal(decimal_is_multiple(&a, &b), i % j == 0);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reasons_name_the_place), cmocka_unit_test(keywords_hold),
		cmocka_unit_test(schemas_are_refused),    cmocka_unit_test(checks_are_bounded),
		cmocka_unit_test(numbers_are_exact),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
