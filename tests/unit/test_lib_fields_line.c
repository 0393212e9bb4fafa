/* Lines as fields_write writes them are read without a document, and as with one. */
#include "absent.h"
#include "stream/fields.h"
#include "unit.h"

struct thing {
	int64_t n, t_ns, count, tokens;
	bool ok, late;
	struct slice name, text, list, last;
};
static const struct field table[] = {
	REQUIRED_FIELD(FIELD_UINT, struct thing, n),  FIELD(FIELD_INT, struct thing, t_ns),
	REQUIRED_FIELD(FIELD_BOOL, struct thing, ok), FIELD(FIELD_BOOL, struct thing, late),
	FIELD(FIELD_UINT, struct thing, count),       FIELD(FIELD_TEXT, struct thing, name),
	FIELD(FIELD_TOKENS, struct thing, tokens),    FIELD(FIELD_TEXT, struct thing, text),
	FIELD(FIELD_INTEGERS, struct thing, list),    FIELD(FIELD_TEXT, struct thing, last),
};
enum { COUNT = sizeof table / sizeof *table };

static bool read_line(const char *line, struct thing *to)
{
	struct fields_shape shape = {.count = 0};
	return fields_read_line(table, COUNT, to, slice_of(line), &shape);
}

static void reads_what_is_written(void **state)
{
	(void)state;
	struct thing t;
	assert_true(read_line(
		"{\"n\":0,\"t_ns\":123456789012345,\"ok\":true,\"late\":true,\"count\":7,\"name\":\"a \\\" \xc3\xa9\","
		"\"tokens\":12,\"list\":[0,17,4],\"last\":\"\"}",
		&t));
	assert_int_equal(t.n, 0);
	assert_int_equal(t.t_ns, 123456789012345);
	assert_true(t.ok && t.late);
	assert_int_equal(t.count, 7);
	assert_int_equal(t.tokens, 12);
	assert_true(slice_is(t.name, "\"a \\\" \xc3\xa9\""));
	assert_true(slice_is(t.list, "[0,17,4]"));
	assert_true(slice_is(t.last, "\"\""));
	assert_null(t.text.data);
	/* an absent member is set, whatever was there before */
	assert_true(read_line("{\"n\":5,\"ok\":false}", &t));
	assert_int_equal(t.n, 5);
	assert_int_equal(t.t_ns, IPF_ABSENT);
	assert_false(t.ok || t.late);
	assert_null(t.last.data);
	assert_null(t.list.data);
}

static void leaves_other_lines_to_fields_read(void **state)
{
	(void)state;
	static const char *const others[] = {
		"",
		"{",
		"{}",
		"[]",
		"{\"n\":1}",
		"{\"ok\":true,\"n\":1}",
		"{\"n\":1,\"ok\":true,\"other\":1}",
		"{\"n\":1,\"n\":1,\"ok\":true}",
		"{\"n\":1,\"ok\":true,}",
		"{\"n\":1,\"ok\":true",
		"{\"n\":1,\"ok\":true} ",
		"{\"n\":1,\"ok\":true}}",
		"{ \"n\":1,\"ok\":true}",
		"{\"n\": 1,\"ok\":true}",
		"{\"n\":1 ,\"ok\":true}",
		"{\"n\":01,\"ok\":true}",
		"{\"n\":-1,\"ok\":true}",
		"{\"n\":1.0,\"ok\":true}",
		"{\"n\":1e3,\"ok\":true}",
		"{\"n\":1234567890123456,\"ok\":true}",
		"{\"n\":null,\"ok\":true}",
		"{\"n\":\"1\",\"ok\":true}",
		"{\"n\":1,\"ok\":1}",
		"{\"n\":1,\"ok\":tru}",
		"{\"n\":1,\"ok\":true,\"name\":5}",
		"{\"n\":1,\"ok\":true,\"name\":\"}",
		"{\"n\":1,\"ok\":true,\"name\":\"\\x\"}",
		"{\"n\":1,\"ok\":true,\"name\":\"\xff\"}",
		"{\"n\":1,\"ok\":true,\"tokens\":999999999999999}",
		"{\"n\":1,\"ok\":true,\"list\":[]}",
		"{\"n\":1,\"ok\":true,\"list\":[1, 2]}",
		"{\"n\":1,\"ok\":true,\"list\":[1,]}",
		"{\"n\":1,\"ok\":true,\"list\":[,1]}",
		"{\"n\":1,\"ok\":true,\"list\":[-1]}",
		"{\"n\":1,\"ok\":true,\"list\":[1",
		"{\"n\":1,\"ok\":true,\"list\":1}",
		"{\"n\":1,\"\\u006fk\":true}",
	};
	struct thing t;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (read_line(others[i], &t))
			fail_msg("%s was read", others[i]);
}

static void random_line(struct buffer *line, uint64_t *seed)
{
	static const char damage[] = "\"\\\x01\xc3,{}[]:0 nt";
	static const char *const texts[] = {"\"\"", "\"x\"", "\"a \\\" \\u00e9\"", "\"\xe2\x82\xac and more than eight\""};
	static const char *const lists[] = {"[1]", "[0,123456789012345]", "[12,3,4567]", "[2,1234567890123456]"};
	struct jout w = {.out = line};
	struct thing t = {.n = (int64_t)(test_random(seed) >> (test_random(seed) % 63 + 1)), .ok = test_random(seed) & 1};
	int64_t *const integers[] = {&t.t_ns, &t.count, &t.tokens};
	struct slice *const slices[] = {&t.name, &t.text, &t.last};
	for (size_t i = 0; i < 3; i++) {
		*integers[i] = test_random(seed) % 3 ? (int64_t)(test_random(seed) >> (test_random(seed) % 40 + 20))
		                                     : IPF_ABSENT;
		*slices[i] = test_random(seed) % 3 ? slice_of(texts[test_random(seed) % 4]) : (struct slice){0};
	}
	t.list = test_random(seed) % 2 ? slice_of(lists[test_random(seed) % 4]) : (struct slice){0};
	t.late = test_random(seed) & 1;
	buffer_clear(line);
	jout_begin_map(&w);
	fields_write(table, COUNT, &t, &w);
	jout_end_map(&w);
	if (test_random(seed) % 2)
		line->data[test_random(seed) % line->len] = damage[test_random(seed) % (sizeof damage - 1)];
}

static void assert_equal(const struct thing *a, const struct thing *b)
{
	assert_true(a->n == b->n && a->t_ns == b->t_ns && a->count == b->count && a->tokens == b->tokens);
	assert_true(a->ok == b->ok && a->late == b->late);
	assert_true(slice_equal(a->name, b->name) && slice_equal(a->text, b->text) && slice_equal(a->last, b->last));
	assert_true(slice_equal(a->list, b->list));
}

static void lines_of_one_shape(void **state)
{
	(void)state;
	struct thing t;
	struct fields_shape shape = {.count = 0};
	static const struct {
		const char *line;
		bool good;
	} cases[] = {
		{"{\"n\":1,\"t_ns\":2,\"ok\":true,\"name\":\"a\"}", true},
		{"{\"n\":3,\"t_ns\":4,\"ok\":true,\"name\":\"b\"}", true},
		{"{\"n\":3,\"t_ns\":4,\"ok\":true,\"name\":\"b\",\"last\":\"c\"}", true}, /* one more */
		{"{\"n\":5,\"ok\":true}", true},                                          /* fewer */
		{"{\"n\":5}", false},                                                     /* without a required member … */
		{"{\"n\":5}", false},                                                     /* … which is no shape */
		{"{\"n\":5,\"ok\":true}", true},
		{"{\"n\":5,\"ok\":true,}", false},
		{"{\"n\":5,\"ok\":true", false},
		{"{\"n\":5,\"ok\":true}}", false},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		memset(&t, 0x55, sizeof t);
		bool good = fields_read_line(table, COUNT, &t, slice_of(cases[i].line), &shape);
		if (good != cases[i].good)
			fail_msg("%s", cases[i].line);
		if (good && t.n == 5)
			assert_true(t.t_ns == IPF_ABSENT && !t.name.data && !t.last.data && !t.late && t.count == IPF_ABSENT);
		if (good && t.n == 3)
			assert_true(t.t_ns == 4 && slice_is(t.name, "\"b\"") && (i == 2) == (t.last.data != NULL));
	}
}

static void agrees_with_fields_read(void **state)
{
	(void)state;
	uint64_t seed = test_seed(__func__);
	struct buffer line = {0};
	struct jdoc doc = {0};
	struct fields_shape shape = {.count = 0};
	size_t read = 0;
	for (int round = 0; round < 50000; round++) {
		random_line(&line, &seed);
		/* without the NUL a buffer has, so a sanitizer sees reads behind the end */
		char *exact = malloc(line.len);
		assert_non_null(exact);
		memcpy(exact, line.data, line.len);
		struct thing fast, slow;
		struct ipf_error err = {0};
		struct thing again;
		struct slice text = {exact, line.len};
		if (fields_read_line(table, COUNT, &fast, text, &shape)) {
			assert_true(fields_read_line(table, COUNT, &again, text, &shape)); /* by the shape of itself */
			assert_equal(&again, &fast);
			assert_int_equal(jdoc_parse(&doc, exact, line.len, &err), 0);
			assert_int_equal(fields_read(table, COUNT, &slow, &doc, JDOC_ROOT, &err), 0);
			assert_equal(&fast, &slow);
			read++;
		}
		free(exact);
	}
	assert_in_range(read, 10000, 49999);
	buffer_release(&line);
	jdoc_release(&doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_what_is_written),
		cmocka_unit_test(leaves_other_lines_to_fields_read),
		cmocka_unit_test(lines_of_one_shape),
		cmocka_unit_test(agrees_with_fields_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
