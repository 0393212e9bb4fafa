#include "input/json_splitter.h"

#include "chunked_text.h"

#include <jansson.h>

enum { ENDING_SIZE = 1024 };

/* The records of a text, separated by bars, and how it ended. */
static void split(const char *text, size_t len, size_t most, uint64_t seed, struct buffer *records,
                  char ending[ENDING_SIZE])
{
	struct chunked_text chunks = {.text = text, .len = len, .most = most, .random = seed};
	struct byte_window window = {.read = read_chunks, .data = &chunks};
	struct json_splitter s;
	struct slice record;
	struct ipf_error err = {0};
	int got;
	buffer_clear(records);
	json_splitter_begin(&s, &window);
	while ((got = json_splitter_next(&s, &record, &err)) == 1) {
		buffer_format(records, "%lld:", (long long)s.line);
		buffer_slice(records, record);
		buffer_byte(records, '|');
	}
	if (got == 0)
		snprintf(ending, ENDING_SIZE, "end");
	else
		snprintf(ending, ENDING_SIZE, "%lld: %s", (long long)s.line, err.text);
	if (got < 0) {
		assert_true(err.kind == IPF_CUT || err.kind == IPF_INPUT);
		ipf_error_clear(&err);
		assert_int_equal(json_splitter_next(&s, &record, &err), -1);
	}
	byte_window_release(&window);
}

/* The same for chunks of every size. */
static void gives(const char *text, const char *expected, const char *expected_ending)
{
	struct buffer records = {0};
	char ending[ENDING_SIZE];
	for (size_t most = 1; most < 40; most++) {
		split(text, strlen(text), most, 0, &records, ending);
		assert_string_equal(records.data ? records.data : "", expected);
		assert_string_equal(ending, expected_ending);
	}
	split(text, strlen(text), 100000, 0, &records, ending);
	assert_string_equal(records.data ? records.data : "", expected);
	assert_string_equal(ending, expected_ending);
	buffer_release(&records);
}

static void arrays(void **state)
{
	(void)state;
	gives("[]", "", "end");
	gives(" [ ] ", "", "end");
	gives("[{\"a\":1},{\"b\":[2,{}]}]", "1:{\"a\":1}|1:{\"b\":[2,{}]}|", "end");
	gives("\n[\n {\"a\":\n1},\n\n {}\n]\n", "3:{\"a\":\n1}|6:{}|", "end");
	gives("[1,-2.5e3,true,null,\"x\",[],{}]", "1:1|1:-2.5e3|1:true|1:null|1:\"x\"|1:[]|1:{}|", "end");
	gives("\xef\xbb\xbf[{}]", "1:{}|", "end");
	gives("[{}][{}]\n[]{\"a\":1}", "1:{}|1:{}|2:{\"a\":1}|", "end");
	gives("[{\"a\":\"]}\\\"]}\\\\\"},{}]", "1:{\"a\":\"]}\\\"]}\\\\\"}|1:{}|", "end");
	gives("[\"\\\\\\\"\",\"\"]", "1:\"\\\\\\\"\"|1:\"\"|", "end");
}

static void broken_arrays(void **state)
{
	(void)state;
	gives("", "", "end");
	gives(" \n", "", "end");
	gives("[", "", "1: cut within the array");
	gives("[{}", "1:{}|", "1: cut within the array");
	gives("[{},", "1:{}|", "1: cut within the array");
	gives("[{},\n{\"a\":\"b", "1:{}|", "2: cut within a record");
	gives("[{}\n{}]", "1:{}|", "2: expected \",\" or \"]\" after a record, got \"{\"");
	gives("[{},]", "1:{}|", "1: expected a record, got \"]\"");
	gives("[,{}]", "", "1: expected a record, got \",\"");
	gives("[{}}]", "1:{}|", "1: expected \",\" or \"]\" after a record, got \"}\"");
	gives("[{\"a\":\"b\"c\"},{}]", "", "1: expected JSON, got \"c\"");
	gives("[{}]x", "1:{}|", "1: expected a JSON array or object, got \"x\"");
	gives("hello\n", "", "1: expected a JSON array or object, got \"h\"");
	gives("\xff\xfe[", "", "1: expected a JSON array or object, got the byte 0xff");
	gives("[12", "", "1: cut within a record");
}

static void lines(void **state)
{
	(void)state;
	gives("{\"a\":1}\n{\"b\":2}\n", "1:{\"a\":1}|2:{\"b\":2}|", "end");
	gives("{\"a\":1}\r\n\r\n{\"b\":2}", "1:{\"a\":1}\r|3:{\"b\":2}|", "end");
	gives("{\"a\":1}", "1:{\"a\":1}|", "end");
	/* a malformed line is for the parser to find, and does not affect the next */
	gives("{\"a\":1}\n{\"b\":\"\n{\"c\":3}\n{\"d\"", "1:{\"a\":1}|2:{\"b\":\"|3:{\"c\":3}|4:{\"d\"|", "end");
	gives("{\"a\":\"\n{\"b\":2}\n", "1:{\"a\":\"|2:{\"b\":2}|", "end");
	gives("{\"a\":1}\n17\n", "1:{\"a\":1}|2:17|", "end");
}

static void objects_laid_out_at_will(void **state)
{
	(void)state;
	gives("{\n \"a\": 1\n}\n", "1:{\n \"a\": 1\n}|", "end");
	gives("{\n \"a\": 1\n}\n{\"b\": 2}\n", "1:{\n \"a\": 1\n}|4:{\"b\": 2}|", "end");
	gives("{\"a\":1}{\"b\":2} {}", "1:{\"a\":1}|1:{\"b\":2}|1:{}|", "end");
	gives("{\"a\":1}{\"b\":2}\n{}", "1:{\"a\":1}|1:{\"b\":2}|2:{}|", "end");
	gives("{\n \"a\": 1", "", "2: cut within a record");
	/* an empty object does not show whether the file is JSON Lines */
	gives("{}\n{\n\"a\":1\n}\n{\"b\":\n2}", "1:{}|2:{\n\"a\":1\n}|5:{\"b\":\n2}|", "end");
	gives("{ }\n{}\n{\"a\":1}\n{\"b\"\n{\"c\":3}\n", "1:{ }|2:{}|3:{\"a\":1}|4:{\"b\"|5:{\"c\":3}|", "end");
	gives("{}", "1:{}|", "end");
	gives("{", "", "1: cut within a record");
	gives("{\"a\":1},{}", "1:{\"a\":1}|", "1: expected a JSON array or object, got \",\"");
}

/* ---- against jansson ---- */

static json_t *random_value(uint64_t *random, int depth)
{
	static const char *const texts[] = {
		"", "a", "\"", "\\", "\\\"", "]}", "[{", "\n\t", "é", "\\\\\\", "\xf0\x9f\x98\x80", ", ", "tab\there"};
	switch (test_random(random) % (depth > 4 ? 5 : 7)) {
	case 0:
		return json_integer((json_int_t)(test_random(random) % 2000) - 1000);
	case 1:
		return json_real((double)(test_random(random) % 1000) / 8);
	case 2:
		return json_boolean(test_random(random) % 2);
	case 3:
		return json_null();
	case 4: {
		struct buffer text = {0};
		for (uint64_t n = test_random(random) % 6; n > 0; n--)
			buffer_text(&text, texts[test_random(random) % (sizeof texts / sizeof *texts)]);
		json_t *value = json_string(text.data ? text.data : "");
		buffer_release(&text);
		return value;
	}
	case 5: {
		json_t *list = json_array();
		for (uint64_t n = test_random(random) % 5; n > 0; n--)
			json_array_append_new(list, random_value(random, depth + 1));
		return list;
	}
	default: {
		json_t *map = json_object();
		char key[16];
		for (uint64_t n = test_random(random) % 5; n > 0; n--) {
			snprintf(key, sizeof key, "k%llu\"", (unsigned long long)(test_random(random) % 100));
			json_object_set_new(map, key, random_value(random, depth + 1));
		}
		return map;
	}
	}
}

static void agrees_with_jansson(void **state)
{
	(void)state;
	uint64_t random = test_seed("agrees_with_jansson");
	struct buffer records = {0}, text = {0};
	for (int round = 0; round < 2000; round++) {
		json_t *list = json_array();
		bool lines_of_objects = round % 3 == 0;
		/* a sequence of objects is recognised by its first object, if that takes more than a line */
		bool laid_out = lines_of_objects ? round % 2 != 0 : test_random(&random) % 2 != 0;
		size_t flags = laid_out ? JSON_INDENT(1) : round % 5 ? 0 : JSON_ENSURE_ASCII;
		buffer_clear(&text);
		for (uint64_t n = test_random(&random) % 8; n > 0; n--) {
			json_t *value = random_value(&random, 0);
			if (lines_of_objects && (!json_is_object(value) || (laid_out && json_object_size(value) == 0))) {
				json_decref(value);
				continue;
			}
			json_array_append_new(list, value);
			char *one = json_dumps(value, flags | JSON_ENCODE_ANY);
			assert_non_null(one);
			if (lines_of_objects)
				buffer_format(&text, "%s\n", one);
			free(one);
		}
		if (!lines_of_objects) {
			char *all = json_dumps(list, flags);
			buffer_text(&text, all);
			free(all);
		}
		struct chunked_text chunks = {
			.text = text.data ? text.data : "", .len = text.len, .random = test_random(&random)};
		struct byte_window window = {.read = read_chunks, .data = &chunks};
		struct json_splitter s;
		struct slice record;
		struct ipf_error err = {0};
		size_t i = 0;
		int got;
		json_splitter_begin(&s, &window);
		for (; (got = json_splitter_next(&s, &record, &err)) == 1; i++) {
			json_error_t why;
			json_t *value = json_loadb(record.data, record.len, JSON_DECODE_ANY, &why);
			if (!value)
				fail_msg("round %d, record %zu: %s: %.*s", round, i, why.text, (int)record.len, record.data);
			assert_true(json_equal(value, json_array_get(list, i)));
			json_decref(value);
		}
		assert_int_equal(got, 0);
		assert_int_equal(i, json_array_size(list));
		byte_window_release(&window);
		json_decref(list);
	}
	buffer_release(&text);
	buffer_release(&records);
}

/* Any text: the size of the chunks does not matter. */
static void chunk_size_does_not_matter(void **state)
{
	(void)state;
	static const char alphabet[] = "{}[]\"\\,: \n\ntrue1e-x\xc3\xa9";
	uint64_t random = test_seed("chunk_size_does_not_matter");
	struct buffer one = {0}, other = {0};
	for (int round = 0; round < 5000; round++) {
		char text[64], ending[ENDING_SIZE], other_ending[ENDING_SIZE];
		size_t len = (size_t)(test_random(&random) % sizeof text);
		for (size_t i = 0; i < len; i++)
			text[i] = alphabet[test_random(&random) % (sizeof alphabet - 1)];
		if (len)
			text[0] = "[{"[round % 2];
		split(text, len, 1000, 0, &one, ending);
		split(text, len, 0, test_random(&random), &other, other_ending);
		assert_true(slice_equal(buffer_all(&one), buffer_all(&other)));
		assert_string_equal(ending, other_ending);
	}
	buffer_release(&one);
	buffer_release(&other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arrays),
		cmocka_unit_test(broken_arrays),
		cmocka_unit_test(lines),
		cmocka_unit_test(objects_laid_out_at_will),
		cmocka_unit_test(agrees_with_jansson),
		cmocka_unit_test(chunk_size_does_not_matter),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
