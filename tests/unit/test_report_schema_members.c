/* Schemas out of lines of members: the keywords that lines become, which values they refuse, and lines that are wrong.
 * cli/report-schemas holds the installed schemas against all the programs write. */
#include "unit.h"

#include "json_schema/json_schema.h"
#include "schemas/members.h"

#include <stdlib.h>

/* The schema of the type `root`, free() it; NULL: err. */
static char *schema_of(const char *lines, struct ipf_error *err)
{
	json_t *types = json_object(), *schema = NULL;
	char *text = strdup(lines);
	if (members_read(types, "lines", text, err) == 0)
		schema = members_schema(types, "root", err);
	char *made = schema ? json_dumps(schema, JSON_COMPACT) : NULL;
	json_decref(schema);
	json_decref(types);
	free(text);
	return made;
}

/* The reason why the value breaks the lines' description; "" if it does not. */
static const char *check(const char *lines, const char *value, struct json_schema_finding *finding)
{
	struct ipf_error err = {0};
	struct json_schema *s = NULL;
	struct jdoc doc = {0};
	char *schema = schema_of(lines, &err);
	if (!schema || json_schema_new(&s, slice_of(schema), &err) < 0 || jdoc_parse(&doc, value, strlen(value), &err) < 0)
		fail_msg("%s: %s", lines, err.text);
	json_schema_check(s, &doc, finding);
	json_schema_free(s);
	jdoc_release(&doc);
	free(schema);
	return finding->reason;
}

static void is(const char *lines, const char *value, const char *reason)
{
	struct json_schema_finding finding;
	if (strcmp(check(lines, value, &finding), reason) != 0)
		fail_msg("%s of %s: expected \"%s\", got \"%s\"", value, lines, reason, finding.reason);
}

/* A value of the type is valid, another one is not. */
static void types_are_checked(void **state)
{
	(void)state;
	static const char *const cases[][3] = {
		{"text", "\"a\"", "1"},
		{"number", "1.5", "\"1.5\""},
		{"integer", "-1", "1.5"},
		{"boolean", "false", "0"},
		{"null", "null", "0"},
		{"array", "[]", "{}"},
		{"object", "{}", "[]"},
		{"count", "0", "-1"},
		{"share", "1", "1.01"},
		{"integer:1..8", "8", "9"},
		{"integer:-2..", "-2", "-3"},
		{"number:..1e3", "1000", "1001"},
		{"number:>0..", "1e-9", "0"},
		{"number:0.5..1", "0.5", "0.4"},
		{"7", "7", "8"},
		{"true", "true", "false"},
		{"\"too few\"", "\"too few\"", "\"too\""},
		{"ok|\"N/A\"|p99.9", "\"N/A\"", "\"N\""},
		{"^[a-z]{2}$", "\"ab\"", "\"abc\""},
		{"text[]", "[\"a\"]", "[1]"},
		{"text[2]", "[\"a\",\"b\"]", "[\"a\"]"},
		{"text[1..]", "[\"a\"]", "[]"},
		{"text[..1]", "[]", "[\"a\",\"b\"]"},
		{"count[2][]", "[[1,2]]", "[[1],[2]]"},
		{"count{}", "{\"a\":1}", "{\"a\":-1}"},
		{"count{..1}", "{\"a\":1}", "{\"a\":1,\"b\":2}"},
		{"count{a|b}", "{\"b\":1}", "{\"c\":1}"},
		{"count{}[]", "[{\"a\":1}]", "{\"a\":1}"},
		{"a|b[]", "[\"b\"]", "\"b\""},
		{"count/null", "null", "-1"},
		{"text/text[]", "[\"a\"]", "[1]"},
		{"(count/null)[]", "[1,null]", "null"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char lines[128], value[64];
		struct json_schema_finding finding;
		snprintf(lines, sizeof lines, "$root object\n  v %s  about it\n", cases[i][0]);
		snprintf(value, sizeof value, "{\"v\":%s}", cases[i][1]);
		is(lines, value, "");
		snprintf(value, sizeof value, "{\"v\":%s}", cases[i][2]);
		if (!*check(lines, value, &finding))
			fail_msg("%s accepts %s", cases[i][0], cases[i][2]);
	}
}

static void members_belong_to_the_object_above(void **state)
{
	(void)state;
	const char *lines = "# a comment\n"
						"$root object  a root\n"
						"  name!   text\n"
						"  parts   object[]\n"
						"    n!    count\n"
						"    .\n"
						"  groups  object{a|b}\n"
						"    n!    count\n"
						"  ^p[0-9]$  count\n"
						"  .\n";
	is(lines, "{\"name\":\"a\",\"parts\":[{\"n\":1}],\"groups\":{\"a\":{\"n\":1}},\"p1\":1}", "");
	is(lines, "{\"parts\":[]}", "/: \"name\" is missing");
	is(lines, "{\"name\":\"a\",\"parts\":[{}]}", "/parts/0: \"n\" is missing");
	is(lines, "{\"name\":\"a\",\"parts\":[{\"n\":1,\"m\":1}]}", "/parts/0/m: not among the properties");
	is(lines, "{\"name\":\"a\",\"groups\":{\"a\":{}}}", "/groups/a: \"n\" is missing");
	is(lines, "{\"name\":\"a\",\"p1\":-1}", "/p1: below the minimum 0");
	is(lines, "{\"name\":\"a\",\"p10\":1}", "/p10: not among the properties");
}

static void types_are_taken_over_and_changed(void **state)
{
	(void)state;
	const char *lines = "$table object\n"
						"  n!  count\n"
						"  at  object\n"
						"    x  count\n"
						"  is  text\n"
						"$kind a|b\n"
						"$root object\n"
						"  @table\n"
						"  at! -  the place\n"
						"    x! -\n"
						"    y  count\n"
						"    .\n"
						"  is  kind\n"
						"  plain  table\n";
	is(lines, "{\"n\":1,\"at\":{\"x\":1,\"y\":2},\"is\":\"a\",\"plain\":{\"n\":1,\"at\":{\"z\":1},\"is\":\"c\"}}", "");
	is(lines, "{\"at\":{\"x\":1}}", "/: \"n\" is missing");
	is(lines, "{\"n\":1}", "/: \"at\" is missing");
	is(lines, "{\"n\":1,\"at\":{}}", "/at: \"x\" is missing");
	is(lines, "{\"n\":1,\"at\":{\"x\":1,\"z\":1}}", "/at/z: not among the properties");
	is(lines, "{\"n\":1,\"at\":{\"x\":1},\"is\":\"c\"}", "/is: not in enum");
	is(lines, "{\"n\":1,\"at\":{\"x\":1},\"plain\":{}}", "/plain: \"n\" is missing");
}

static void a_member_chooses_the_type(void **state)
{
	(void)state;
	const char *lines = "$root object\n"
						"  ?ipf head\n"
						"  ?end tail\n"
						"  ? row\n"
						"$head object\n"
						"  version! 1\n"
						"$tail object\n"
						"  end! count\n"
						"$row object\n"
						"  n! count\n";
	is(lines, "{\"ipf\":1,\"version\":1}", "");
	is(lines, "{\"end\":1}", "");
	is(lines, "{\"n\":1}", "");
	is(lines, "{\"ipf\":1,\"n\":1}", "/: \"version\" is missing");
	is(lines, "{\"end\":-1}", "/end: below the minimum 0");
	is(lines, "{}", "/: \"n\" is missing");
}

static void only_used_types_are_in_a_schema(void **state)
{
	(void)state;
	struct ipf_error err = {0};
	char *schema = schema_of("$root object  it\n  a b\n$b object\n  c d[]\n$d text\n$e text\n", &err);
	assert_string_equal(schema,
	                    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"ipf root\","
	                    "\"type\":\"object\",\"description\":\"it\",\"properties\":{\"a\":{\"$ref\":\"#/$defs/b\"}},"
	                    "\"$defs\":{\"b\":{\"type\":\"object\",\"properties\":{\"c\":{\"type\":\"array\","
	                    "\"items\":{\"$ref\":\"#/$defs/d\"}}}},\"d\":{\"type\":\"string\"}}}");
	free(schema);
}

static void wrong_lines_are_named(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{"$root object\n  a text]\n", "lines:2: expected the end of a type, got \"]\""},
		{"$root object\n  a (text\n", "lines:2: expected ), got \"\""},
		{"$root object\n  a text[1\n", "lines:2: expected ], got \"\""},
		{"$root object\n  a text{text\n", "lines:2: expected }, got \"\""},
		{"$root object\n  a\n", "lines:2: expected a type, got \"\""},
		{"$root object\n  a -\n", "lines:2: expected a member from above, got \"a\""},
		{"$root object\n  @b\n", "lines:2: expected a type from above, got \"b\""},
		{"$root object\n  a text\n    b text\n", "lines:3: expected a member of an object, got \"b\""},
		{"a text\n", "lines:1: expected a member of an object, got \"a\""},
		{"$root object\n  a kind\n", "kind: no such type"},
		{"$other object\n", "root: no such type"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ipf_error err = {0};
		if (schema_of(cases[i][0], &err))
			fail_msg("%s is taken", cases[i][0]);
		FILE *out = tmpfile();
		char said[256] = "";
		ipf_error_report(&err, out, "t");
		rewind(out);
		assert_non_null(fgets(said, sizeof said, out));
		said[strcspn(said, "\n")] = '\0';
		assert_string_equal(said + strlen("t: "), cases[i][1]);
		fclose(out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(types_are_checked),
		cmocka_unit_test(members_belong_to_the_object_above),
		cmocka_unit_test(types_are_taken_over_and_changed),
		cmocka_unit_test(a_member_chooses_the_type),
		cmocka_unit_test(only_used_types_are_in_a_schema),
		cmocka_unit_test(wrong_lines_are_named),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
