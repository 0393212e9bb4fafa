#include "json/jdoc.h"
#include "unit.h"

static struct buffer text;
static struct jdoc doc;
static struct jdoc_direct direct = {.text_key = "body", .text = &text, .rows_key = "reads"};
static struct ipf_error err;

static int parse(const char *json)
{
	ipf_error_clear(&err);
	return jdoc_parse_direct(&doc, json, strlen(json), &direct, &err);
}

static void reads_a_text_and_rows(void **state)
{
	(void)state;
	assert_int_equal(parse("{\"n\":3,\"reads\":[[0,1,2],[12345678,999999999999999,7]],\"body\":\"a\\\"\\u00e9\\n\\ud83d"
	                       "\\ude00\xc3\xa9, which is long enough\",\"z\":[4]}"),
	                 0);
	assert_int_equal(direct.rows_node, jdoc_get(&doc, JDOC_ROOT, "reads"));
	assert_int_equal(direct.rows_count, 2);
	assert_int_equal(direct.rows[0][0], 0);
	assert_int_equal(direct.rows[0][2], 2);
	assert_int_equal(direct.rows[1][0], 12345678);
	assert_int_equal(direct.rows[1][1], 999999999999999);
	assert_int_equal(direct.rows[1][2], 7);
	assert_int_equal(direct.text_node, jdoc_get(&doc, JDOC_ROOT, "body"));
	assert_string_equal(text.data, "a\"\xc3\xa9\n\xf0\x9f\x98\x80\xc3\xa9, which is long enough");
	/* their neighbours are there as ever */
	int64_t n = 0;
	assert_int_equal(jdoc_get_int(&doc, JDOC_ROOT, "n", &n, &err), 1);
	assert_int_equal(n, 3);
	assert_int_equal(jdoc_count(&doc, jdoc_get(&doc, JDOC_ROOT, "z")), 1);
	assert_int_equal(jdoc_count(&doc, JDOC_ROOT), 4);
}

/* Each is good JSON, whose reads are nodes. */
static void leaves_other_forms_to_nodes(void **state)
{
	(void)state;
	static const char *const others[] = {
		"[]",
		"[[]]",
		"[ [1,2,3]]",
		"[[1,2,3] ]",
		"[[1,2 ,3]]",
		"[[1,2]]",
		"[[1,2,3,4]]",
		"[[1,2,3],[4,5]]",
		"[[-1,2,3]]",
		"[[1,2,3.0]]",
		"[[1,2,3e1]]",
		"[[1,2,1234567890123456]]",
		"[[1,2,12345678901234567890]]",
		"[[1,2,null]]",
		"[[1,2,\"3\"]]",
		"[1,2,3]",
		"[[1,2,3],null]",
		"{\"a\":[[1,2,3]]}",
		"null",
	};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		char json[256];
		/* enough bytes behind it, or the end alone would decide */
		snprintf(json, sizeof json, "{\"reads\":%s,\"body\":\"%0100d\"}", others[i], 0);
		if (parse(json) < 0)
			fail_msg("%s: %s", json, err.text);
		assert_int_equal(direct.rows_node, JDOC_NONE);
		assert_true(slice_is(jdoc_raw(&doc, jdoc_get(&doc, JDOC_ROOT, "reads")), others[i]));
		assert_int_equal(text.len, 100);
	}
	assert_int_equal(parse("{\"body\":[[1,2,3]],\"reads\":\"text\"}"), 0);
	assert_int_equal(direct.rows_node, JDOC_NONE);
	assert_int_equal(direct.text_node, JDOC_NONE);
}

static void reads_only_the_roots_first_members(void **state)
{
	(void)state;
	assert_int_equal(parse("{\"a\":{\"body\":\"x\"},\"body\":null,\"body\":\"y\",\"body\":\"z\"}"), 0);
	assert_string_equal(text.data, "y");
	/* the first of a key counts, and that is null */
	assert_int_not_equal(direct.text_node, jdoc_get(&doc, JDOC_ROOT, "body"));
	assert_int_equal(parse("[\"body\",\"x\"]"), 0);
	assert_int_equal(direct.text_node, JDOC_NONE);
	assert_int_equal(parse("{\"b\\u006fdy\":\"x\"}"), 0); /* an odd way to write the key */
	assert_int_equal(direct.text_node, JDOC_NONE);
	assert_int_not_equal(jdoc_get(&doc, JDOC_ROOT, "body"), JDOC_NONE);
}

static void refuses_rows_that_are_not_json(void **state)
{
	(void)state;
	static const char *const bad[] = {"[[01,2,3]]", "[[1,2,3]", "[[1,2,3],]", "[[1,,3]]", "[[1,2,]]", "[[1,2,3]}"};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char json[256];
		snprintf(json, sizeof json, "{\"reads\":%s,\"body\":\"%0100d\"}", bad[i], 0);
		assert_int_equal(parse(json), -1);
		assert_int_equal(err.kind, IPF_INPUT);
	}
}

/* ---- property: the same as by nodes, and the same errors ---- */

static void add_rows(struct buffer *json, uint64_t *seed)
{
	static const char *const odd[] = {"-5", "0", "00", "1.5", " 7", "null", "123456789012345678", "[1]", "\"x\"", ""};
	buffer_byte(json, '[');
	for (uint64_t rows = test_random(seed) % 6, i = 0; i < rows; i++) {
		buffer_text(json, i ? ",[" : "[");
		for (uint64_t values = test_random(seed) % 40 ? 3 : test_random(seed) % 5, k = 0; k < values; k++) {
			buffer_text(json, k ? "," : "");
			if (test_random(seed) % 60)
				buffer_format(json, "%llu", (unsigned long long)(test_random(seed) >> (test_random(seed) % 64)));
			else
				buffer_text(json, odd[test_random(seed) % (sizeof odd / sizeof *odd)]);
		}
		buffer_byte(json, ']');
	}
	buffer_byte(json, ']');
}

static void add_text(struct buffer *json, uint64_t *seed)
{
	static const char *const parts[] = {"\\\"", "\\\"",    "\\\\",     "\\n",  "a",       "bc",  "defghijkl",
	                                    "\\/",  "\\u00e9", "\xc3\xa9", "\x7f", "\\ud83d", "\\t", "{\\\"id\\\":\\\""};
	buffer_byte(json, '"');
	for (uint64_t n = test_random(seed) % 60; n; n--)
		buffer_text(json, parts[test_random(seed) % (test_random(seed) % 3 ? 7 : sizeof parts / sizeof *parts)]);
	buffer_byte(json, '"');
}

static void assert_rows(const struct jdoc *nodes, jdoc_id list)
{
	assert_int_equal(jdoc_count(nodes, list), direct.rows_count);
	for (uint32_t i = 0; i < direct.rows_count; i++)
		for (uint32_t k = 0; k < JDOC_ROW; k++) {
			int64_t value = -1;
			assert_int_equal(jdoc_count(nodes, jdoc_at(nodes, list, i)), JDOC_ROW);
			assert_true(jdoc_to_int(nodes, jdoc_at(nodes, jdoc_at(nodes, list, i), k), &value));
			assert_int_equal(value, direct.rows[i][k]);
		}
}

/* Returns whether rows were read. */
static bool compare(const struct buffer *json)
{
	struct jdoc nodes = {0};
	struct buffer expected = {0};
	struct ipf_error other = {0};
	/* without the NUL a buffer has, so a sanitizer sees reads behind the end */
	char *exact = malloc(json->len);
	assert_non_null(exact);
	memcpy(exact, json->data, json->len);
	ipf_error_clear(&err);
	int status = jdoc_parse_direct(&doc, exact, json->len, &direct, &err);
	assert_int_equal(jdoc_parse(&nodes, exact, json->len, &other), status);
	assert_string_equal(err.text, other.text);
	bool rows = status == 0 && direct.rows_node != JDOC_NONE;
	if (status == 0 && direct.text_node != JDOC_NONE) {
		jdoc_text(&nodes, jdoc_get(&nodes, JDOC_ROOT, "body"), &expected);
		assert_true(slice_equal(buffer_all(&text), buffer_all(&expected)));
	}
	if (rows)
		assert_rows(&nodes, jdoc_get(&nodes, JDOC_ROOT, "reads"));
	free(exact);
	buffer_release(&expected);
	jdoc_release(&nodes);
	return rows;
}

static void agrees_with_nodes(void **state)
{
	(void)state;
	static const char damage[] = "\"\\\x01\xc3\x80\xffnu\x1f\n,[]{}0";
	uint64_t seed = test_seed(__func__);
	struct buffer json = {0};
	size_t read = 0;
	for (int round = 0; round < 20000; round++) {
		buffer_clear(&json);
		buffer_byte(&json, '{');
		for (uint64_t n = test_random(&seed) % 70; n; n--)
			buffer_text(&json, "\"a\":0,");
		buffer_text(&json, "\"reads\":");
		add_rows(&json, &seed);
		buffer_text(&json, ",\"body\":");
		add_text(&json, &seed);
		buffer_byte(&json, '}');
		if (round % 3 == 0)
			json.data[test_random(&seed) % json.len] = damage[test_random(&seed) % (sizeof damage - 1)];
		read += compare(&json);
	}
	assert_in_range(read, 1000, 19999);
	buffer_release(&json);
}

static int release(void **state)
{
	(void)state;
	jdoc_release(&doc);
	buffer_release(&text);
	free(direct.rows);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_text_and_rows),
		cmocka_unit_test(leaves_other_forms_to_nodes),
		cmocka_unit_test(reads_only_the_roots_first_members),
		cmocka_unit_test(refuses_rows_that_are_not_json),
		cmocka_unit_test(agrees_with_nodes),
	};
	return cmocka_run_group_tests(tests, NULL, release);
}
