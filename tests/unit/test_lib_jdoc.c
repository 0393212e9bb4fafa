#include "absent.h"
#include "json/jdoc.h"
#include "json/jout.h"
#include "unit.h"

#include <jansson.h>
#include <math.h>

static struct jdoc doc;
static struct ipf_error err;

static int parse(const char *text)
{
	ipf_error_clear(&err);
	return jdoc_parse(&doc, text, strlen(text), &err);
}

static void finds_members_and_elements(void **state)
{
	(void)state;
	assert_int_equal(parse(" {\"a\": [1, {\"b\": \"x\"}, []], \"c\": null, \"d\":-0.5e1 , \"e\":true} \n"), 0);
	jdoc_id a = jdoc_get(&doc, JDOC_ROOT, "a");
	assert_int_equal(jdoc_type_of(&doc, a), JDOC_LIST);
	assert_int_equal(jdoc_count(&doc, a), 3);
	int64_t one = 0;
	assert_true(jdoc_to_int(&doc, jdoc_at(&doc, a, 0), &one));
	assert_int_equal(one, 1);
	assert_true(jdoc_text_is(&doc, jdoc_get(&doc, jdoc_at(&doc, a, 1), "b"), "x"));
	assert_int_equal(jdoc_count(&doc, jdoc_at(&doc, a, 2)), 0);
	assert_int_equal(jdoc_at(&doc, a, 3), JDOC_NONE);
	assert_int_equal(jdoc_get(&doc, JDOC_ROOT, "z"), JDOC_NONE);
	assert_true(jdoc_is_null(&doc, jdoc_get(&doc, JDOC_ROOT, "c")));
	double d = 0;
	assert_true(jdoc_to_double(&doc, jdoc_get(&doc, JDOC_ROOT, "d"), &d));
	assert_true(d == -5.0);
	struct slice raw = jdoc_raw(&doc, a);
	assert_true(slice_is(raw, "[1, {\"b\": \"x\"}, []]"));
}

static void refuses_what_is_not_json(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"",
		" ",
		"{",
		"[1,]",
		"{\"a\":1,}",
		"[1 2]",
		"{\"a\" 1}",
		"{a:1}",
		"01",
		"-",
		"1.",
		".5",
		"1e",
		"1e+",
		"+1",
		"nul",
		"truee",
		"\"",
		"\"\\x\"",
		"\"\\u12g4\"",
		"\"\t\"",
		"[1]]",
		"{} {}",
		"NaN",
		"Infinity",
		"'a'",
		"\"\xff\"",
		"\"\xc0\x80\"",
		"\"\xed\xa0\x80\"",
		"\"\xf4\x90\x80\x80\"",
		"\"\xe2\x82\"",
		"[,1]",
		"{,}",
		"{\"a\":}",
		"[\"a\":1]",
		"{1:2}",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		if (parse(bad[i]) == 0)
			fail_msg("accepted: %s", bad[i]);
		assert_int_equal(err.kind, IPF_INPUT);
		assert_non_null(strstr(err.text, "not JSON"));
	}
	char deep[2000];
	memset(deep, '[', 1000);
	memset(deep + 1000, ']', 999);
	deep[1999] = '\0';
	assert_int_equal(parse(deep), -1);
}

static void decodes_escapes(void **state)
{
	(void)state;
	struct buffer out = {0};
	assert_int_equal(parse("\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20ac\\ud83d\\ude00\\ud800x\\udc00\""), 0);
	jdoc_text(&doc, JDOC_ROOT, &out);
	assert_string_equal(out.data, "a\"\\/\b\f\n\r\tA\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xef\xbf\xbdx\xef\xbf\xbd");
	assert_int_equal(parse("{\"\\u0061b\": 1}"), 0);
	assert_int_not_equal(jdoc_get(&doc, JDOC_ROOT, "ab"), JDOC_NONE);
	buffer_release(&out);
}

static void names_field_and_value_of_a_wrong_type(void **state)
{
	(void)state;
	int64_t i = 0;
	bool b = false;
	struct slice raw;
	assert_int_equal(parse("{\"output_tokens\": \"many\", \"n\": -3, \"x\": 1.5, \"ok\": 1, \"none\": null}"), 0);
	assert_int_equal(jdoc_get_int(&doc, JDOC_ROOT, "output_tokens", &i, &err), -1);
	assert_string_equal(err.text, "output_tokens: expected an integer, got \"many\"");
	ipf_error_clear(&err);
	assert_int_equal(jdoc_get_uint(&doc, JDOC_ROOT, "n", &i, &err), -1);
	assert_string_equal(err.text, "n: expected an integer of 0 or more, got -3");
	ipf_error_clear(&err);
	assert_int_equal(jdoc_get_int(&doc, JDOC_ROOT, "x", &i, &err), -1);
	ipf_error_clear(&err);
	assert_int_equal(jdoc_get_bool(&doc, JDOC_ROOT, "ok", &b, &err), -1);
	ipf_error_clear(&err);
	assert_int_equal(jdoc_get_raw(&doc, JDOC_ROOT, "ok", JDOC_TEXT, &raw, &err), -1);
	ipf_error_clear(&err);
	assert_int_equal(jdoc_get_int(&doc, JDOC_ROOT, "none", &i, &err), 0);
	assert_int_equal(jdoc_get_int(&doc, JDOC_ROOT, "absent", &i, &err), 0);
	assert_int_equal(err.kind, IPF_OK);
}

static void keeps_integers_to_the_last_bit(void **state)
{
	(void)state;
	int64_t i = 0;
	assert_int_equal(
		parse("[9223372036854775807, -9223372036854775807, 9223372036854775808, 1e3, 1.0, -9223372036854775808]"), 0);
	assert_true(jdoc_to_int(&doc, jdoc_at(&doc, JDOC_ROOT, 0), &i) && i == INT64_MAX);
	assert_true(jdoc_to_int(&doc, jdoc_at(&doc, JDOC_ROOT, 1), &i) && i == -INT64_MAX);
	for (uint32_t at = 2; at < 6; at++)
		assert_false(jdoc_to_int(&doc, jdoc_at(&doc, JDOC_ROOT, at), &i));
}

/* ---- property: agrees with jansson ---- */

static void random_text(struct jout *w, uint64_t *seed)
{
	static const char *const pieces[] = {
		"a",    "\"", "\\", "\n", "\x01", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "long plain run of text",
		"\x7f", "/"};
	struct buffer text = {0};
	buffer_text(&text, "");
	for (uint64_t n = test_random(seed) % 8; n; n--)
		buffer_text(&text, pieces[test_random(seed) % (sizeof pieces / sizeof *pieces)]);
	jout_string(w, buffer_all(&text));
	buffer_release(&text);
}

static void random_value(struct jout *w, uint64_t *seed, int depth)
{
	uint64_t kind = test_random(seed) % (depth > 5 ? 5 : 7);
	if (kind == 0) {
		jout_int(w, (int64_t)test_random(seed) / (1 << (test_random(seed) % 31)));
	} else if (kind == 1) {
		jout_double(w, (double)(int64_t)test_random(seed) / 1e12);
	} else if (kind == 2) {
		jout_bool(w, test_random(seed) & 1);
	} else if (kind == 3) {
		jout_null(w);
	} else if (kind == 4) {
		random_text(w, seed);
	} else if (kind == 5) {
		jout_begin_list(w);
		for (uint64_t n = test_random(seed) % 5; n; n--)
			random_value(w, seed, depth + 1);
		jout_end_list(w);
	} else {
		jout_begin_map(w);
		for (uint64_t n = test_random(seed) % 5; n; n--) {
			char key[24];
			snprintf(key, sizeof key, "k%llu", (unsigned long long)n);
			jout_key(w, key);
			random_value(w, seed, depth + 1);
		}
		jout_end_map(w);
	}
}

static void assert_same(const struct jdoc *j, jdoc_id node, json_t *other)
{
	struct buffer text = {0};
	int64_t i = 0;
	double d = 0;
	switch (jdoc_type_of(j, node)) {
	case JDOC_NULL:
		assert_true(json_is_null(other));
		break;
	case JDOC_BOOL:
		assert_int_equal(json_is_true(other), jdoc_raw(j, node).data[0] == 't');
		break;
	case JDOC_NUMBER:
		if (json_is_integer(other))
			assert_true(jdoc_to_int(j, node, &i) && i == json_integer_value(other));
		else
			assert_true(jdoc_to_double(j, node, &d) && d == json_real_value(other));
		break;
	case JDOC_TEXT:
		jdoc_text(j, node, &text);
		assert_int_equal(text.len, json_string_length(other));
		assert_memory_equal(text.data ? text.data : "", json_string_value(other), text.len);
		break;
	case JDOC_LIST:
		assert_int_equal(jdoc_count(j, node), json_array_size(other));
		for (uint32_t at = 0; at < jdoc_count(j, node); at++)
			assert_same(j, jdoc_at(j, node, at), json_array_get(other, at));
		break;
	case JDOC_MAP:
		assert_int_equal(jdoc_count(j, node), json_object_size(other));
		for (struct jdoc_each e = jdoc_each(j, node); jdoc_step(&e);) {
			buffer_clear(&text);
			jdoc_text(j, e.key, &text);
			assert_same(j, e.value, json_object_get(other, text.data));
		}
	}
	buffer_release(&text);
}

static void agrees_with_jansson(void **state)
{
	(void)state;
	uint64_t seed = test_seed("agrees_with_jansson");
	struct buffer text = {0};
	for (int round = 0; round < 3000; round++) {
		struct jout w = {.out = &text};
		buffer_clear(&text);
		random_value(&w, &seed, 0);
		json_t *other = json_loadb(text.data, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		assert_non_null(other);
		assert_int_equal(jdoc_parse(&doc, text.data, text.len, &err), 0);
		assert_same(&doc, JDOC_ROOT, other);
		json_decref(other);
		/* with one byte changed, both accept the text or both refuse it */
		size_t at = test_random(&seed) % text.len;
		text.data[at] = "{}[]\",:0\\a\xff\x1f"[test_random(&seed) % 12];
		struct ipf_error why = {0};
		int ours = jdoc_parse(&doc, text.data, text.len, &why);
		other = json_loadb(text.data, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		/* jansson also refuses numbers out of range, which are fine as long as nobody asks for their value, and lone
		 * surrogates */
		if ((ours == 0) != (other != NULL) && !strstr(text.data, "\\u") && !strpbrk(text.data, "eE0123456789"))
			fail_msg("ours %d, jansson %d: %s", ours == 0, other != NULL, text.data);
		if (ours != 0)
			assert_null(other);
		json_decref(other);
	}
	buffer_release(&text);
}

static void writes_what_reads_back(void **state)
{
	(void)state;
	struct buffer text = {0};
	struct jout w = {.out = &text};
	jout_begin_map(&w);
	jout_member_int(&w, "absent", IPF_ABSENT);
	jout_member_int(&w, "n", INT64_MAX);
	jout_member_string(&w, "bad", (struct slice){"a\xff\xe2\x82z", 5});
	jout_member_string(&w, "none", (struct slice){0});
	jout_key(&w, "d");
	jout_double(&w, 0.1);
	jout_key(&w, "nan");
	jout_double(&w, NAN);
	jout_key(&w, "l");
	jout_begin_list(&w);
	jout_int(&w, -1);
	jout_begin_map(&w);
	jout_end_map(&w);
	jout_string0(&w, "\x1f\x7f");
	jout_row(&w, (const int64_t[JOUT_ROW]){INT64_MIN, 0, INT64_MAX});
	jout_row(&w, (const int64_t[JOUT_ROW]){99, 100, -7});
	jout_end_list(&w);
	jout_key(&w, "row");
	jout_row(&w, (const int64_t[JOUT_ROW]){1, 2, 3});
	jout_end_map(&w);
	assert_string_equal(
		text.data,
		"{\"n\":9223372036854775807,\"bad\":\"a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdz\",\"d\":0.1,\"nan\":null,"
		"\"l\":[-1,{},\"\\u001f\x7f\",[-9223372036854775808,0,9223372036854775807],[99,100,-7]],\"row\":[1,2,3]}");
	buffer_release(&text);
}

/* The definition: the first of three precisions reading back equal. */
static void double_is_the_shortest(double value)
{
	char expected[40];
	struct buffer text = {0};
	for (int precision = 15; precision <= 17; precision++) {
		snprintf(expected, sizeof expected, "%.*g", precision, value);
		if (strtod(expected, NULL) == value)
			break;
	}
	jout_double(&(struct jout){.out = &text}, value);
	assert_string_equal(text.data, expected);
	buffer_release(&text);
}

static void writes_doubles_in_their_shortest_form(void **state)
{
	static const double edges[] = {0,
	                               1,
	                               10,
	                               0.5,
	                               1e-4,
	                               9.9999e-5,
	                               1.00001e-4,
	                               999999999999999,
	                               999999999999999.5,
	                               1e15,
	                               1e16,
	                               1e22,
	                               1e300,
	                               5e-324,
	                               0.1,
	                               0.3,
	                               2.0 / 3,
	                               123456789.125,
	                               1e-4 / 3,
	                               0.00012345678901234,
	                               99999.99999999};
	uint64_t seed = test_seed("doubles");
	(void)state;
	for (size_t i = 0; i < sizeof edges / sizeof *edges; i++) {
		double_is_the_shortest(edges[i]);
		double_is_the_shortest(-edges[i]);
	}
	for (int exponent = -6; exponent < 18; exponent++)
		for (double near = pow(10, exponent), i = 0; i < 40; i++, near = nextafter(near, i < 20 ? 0 : 1e300))
			double_is_the_shortest(near);
	for (int exponent = -20; exponent < 60; exponent++) /* below a power of two, doubles are nearer */
		for (double near = ldexp(1, exponent), i = 0; i < 6; i++, near = nextafter(near, i < 3 ? 0 : 1e300))
			double_is_the_shortest(near);
	for (int i = 0; i < 40000; i++) {
		uint64_t bits = test_random(&seed);
		double any, power = pow(10, (double)(test_random(&seed) % 24));
		memcpy(&any, &bits, sizeof any);
		if (isfinite(any))
			double_is_the_shortest(any);
		double_is_the_shortest((double)(bits >> (bits & 63)) / power);
		double_is_the_shortest((double)(bits % 100000) / power);
	}
}

/* The definition, byte by byte. */
static void escape_plainly(struct buffer *out, const char *text, size_t len)
{
	static const char *const names = "\bb\ff\nn\rr\tt\"\"\\\\";
	buffer_byte(out, '"');
	for (size_t i = 0; i < len; i++) {
		const char *name = text[i] ? strchr(names, text[i]) : NULL;
		while (name && (name - names) % 2)
			name = strchr(name + 1, text[i]);
		if (name)
			buffer_format(out, "\\%c", name[1]);
		else if ((unsigned char)text[i] < 0x20)
			buffer_format(out, "\\u%04x", text[i]);
		else
			buffer_byte(out, text[i]);
	}
	buffer_byte(out, '"');
}

static void escapes_texts_of_any_length(void **state)
{
	(void)state;
	static const char letters[] = "abcdefgh \"\\\n\t\x01\x1f\x7f!#[]";
	uint64_t seed = test_seed(__func__);
	for (size_t round = 0; round < 4000; round++) {
		char text[1200];
		size_t len = round < 100 ? round : test_random(&seed) % sizeof text;
		/* from texts without escapes to texts of escapes only */
		size_t plain = test_random(&seed) % 11;
		for (size_t i = 0; i < len; i++)
			text[i] = letters[test_random(&seed) % 10 < plain ? test_random(&seed) % 9
			                                                  : test_random(&seed) % (sizeof letters - 1)];
		struct buffer fast = {0}, plainly = {0};
		struct jout w = {.out = &fast};
		jout_string(&w, (struct slice){text, len});
		escape_plainly(&plainly, text, len);
		assert_string_equal(fast.data, plainly.data);
		assert_int_equal(fast.len, plainly.len);
		buffer_release(&fast);
		buffer_release(&plainly);
	}
}

/* jansson's result for the string; *text: its content. */
static bool is_string(const struct buffer *json, struct buffer *text)
{
	json_t *value = json_loadb(json->data, json->len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	bool good = json_is_string(value);
	if (good)
		buffer_append(text, json_string_value(value), json_string_length(value));
	json_decref(value);
	return good;
}

/* Strings with as many escapes as JSON inside JSON has; half of them damaged. */
static void reads_escapes_wherever_they_are(void **state)
{
	(void)state;
	static const char *const parts[] = {"\\\"", "\\\"",    "\\\\",     "\\n",  "a",       "bc",  "defghijkl",
	                                    "\\/",  "\\u00e9", "\xc3\xa9", "\x7f", "\\u0022", "\\t", "{"};
	static const char damage[] = "\"\\\x01\xc3\x80\xffnu\x1f\n";
	uint64_t seed = test_seed(__func__);
	size_t valid = 0;
	for (size_t round = 0; round < 20000; round++) {
		struct buffer json = {0}, text = {0}, expected = {0};
		size_t count = test_random(&seed) % 40, kinds = 1 + test_random(&seed) % (sizeof parts / sizeof *parts);
		buffer_byte(&json, '"');
		for (size_t i = 0; i < count; i++)
			buffer_text(&json, parts[test_random(&seed) % 3 ? 4 + i % 3 : test_random(&seed) % kinds]);
		buffer_byte(&json, '"');
		if (round % 2)
			json.data[test_random(&seed) % json.len] = damage[test_random(&seed) % (sizeof damage - 1)];
		/* without the NUL a buffer has, so a sanitizer sees reads behind the end */
		char *exact = slice_dup(buffer_all(&json));
		exact = realloc(exact, json.len);
		assert_non_null(exact);
		bool good = is_string(&json, &expected);
		ipf_error_clear(&err);
		assert_int_equal(jdoc_parse(&doc, exact, json.len, &err) == 0, good);
		if (good) {
			jdoc_text(&doc, JDOC_ROOT, &text);
			assert_true(slice_equal(buffer_all(&text), buffer_all(&expected)));
			valid++;
		}
		free(exact);
		buffer_release(&json);
		buffer_release(&text);
		buffer_release(&expected);
	}
	assert_in_range(valid, 10001, 19999); /* some of the damage does none */
}

static void writes_jansson_values_in_their_shortest_form(void **state)
{
	(void)state;
	static const char text[] =
		"{\"a\":[1,-2,0.1,5.333333333333333,2.0,1e+300],\"b\\\"\":{\"c\":null,\"d\":true,\"e\":false,\"f\":\"\xc3\xa9\\n\"},\"g\":[],\"h\":{}}";
	json_t *value = json_loads(text, 0, NULL);
	struct buffer out = {0};
	struct jout w = {.out = &out};
	assert_non_null(value);
	jout_json(&w, value);
	assert_string_equal(out.data, text);
	json_decref(value);
	buffer_release(&out);
}

static void knows_which_values_were_asked_for(void **state)
{
	static const char text[] = "{\"a\":1,\"b\":{\"c\":2,\"d\":3},\"e\":[{\"f\":4},{\"f\":5}],\"g\":{\"h\":6}}";
	struct jdoc watched = {0};
	(void)state;
	for (int round = 0; round < 2; round++) {
		if (round == 1)
			jdoc_watch(&watched);
		assert_int_equal(jdoc_parse(&watched, text, sizeof text - 1, &err), 0);
		jdoc_id a = JDOC_ROOT + 2, b = jdoc_get(&watched, JDOC_ROOT, "b"), c = jdoc_get(&watched, b, "c");
		assert_int_equal(jdoc_use_of(&watched, b), round ? JDOC_USED : JDOC_UNUSED);
		assert_int_equal(jdoc_use_of(&watched, c), round ? JDOC_USED : JDOC_UNUSED);
		assert_int_equal(jdoc_use_of(&watched, a), JDOC_UNUSED);
		jdoc_unuse(&watched, c);
		assert_int_equal(jdoc_use_of(&watched, c), JDOC_UNUSED);
		jdoc_id first = jdoc_at(&watched, jdoc_get(&watched, JDOC_ROOT, "e"), 0);
		assert_int_equal(jdoc_use_of(&watched, first), round ? JDOC_USED : JDOC_UNUSED);
		jdoc_id g = jdoc_get(&watched, JDOC_ROOT, "g");
		assert_true(slice_is(jdoc_raw(&watched, g), "{\"h\":6}"));
		assert_int_equal(jdoc_use_of(&watched, g), round ? JDOC_USED_WHOLE : JDOC_UNUSED);
	}
	jdoc_release(&watched);
}

static int release(void **state)
{
	(void)state;
	jdoc_release(&doc);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_members_and_elements),
		cmocka_unit_test(refuses_what_is_not_json),
		cmocka_unit_test(decodes_escapes),
		cmocka_unit_test(names_field_and_value_of_a_wrong_type),
		cmocka_unit_test(keeps_integers_to_the_last_bit),
		cmocka_unit_test(agrees_with_jansson),
		cmocka_unit_test(writes_what_reads_back),
		cmocka_unit_test(writes_doubles_in_their_shortest_form),
		cmocka_unit_test(escapes_texts_of_any_length),
		cmocka_unit_test(reads_escapes_wherever_they_are),
		cmocka_unit_test(writes_jansson_values_in_their_shortest_form),
		cmocka_unit_test(knows_which_values_were_asked_for),
	};
	return cmocka_run_group_tests(tests, NULL, release);
}
