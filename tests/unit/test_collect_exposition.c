#include "unit.h"

#include "scrape/exposition.h"

#include <math.h>

/* The lines read: TYPE NAME{LABEL=VALUE,…} VALUE */
static struct buffer read_back;

static void note(void *data, const struct exposition_series *s)
{
	static const char types[] = "ugchs";
	(void)data;
	buffer_format(&read_back, "%c %.*s{", types[s->type], (int)s->name.len, s->name.data);
	for (size_t i = 0; i < s->labels_count; i++)
		buffer_format(&read_back, "%.*s=%.*s,", (int)s->labels[i].name.len, s->labels[i].name.data,
		              (int)s->labels[i].value.len, s->labels[i].value.data);
	buffer_format(&read_back, "} %g\n", s->value);
}

/* Reads the text in parts of each size: they must give the same. */
static void expect_bad(const char *text, const char *expected, int64_t bad, int status)
{
	size_t len = strlen(text);
	for (size_t part = 1; part <= len + 1; part += part < 9 ? 1 : len) {
		struct exposition *e = exposition_new(note, NULL);
		struct ipf_error err = {0};
		buffer_clear(&read_back);
		buffer_text(&read_back, "");
		for (size_t at = 0; at < len; at += part)
			exposition_feed(e, text + at, len - at < part ? len - at : part);
		assert_int_equal(exposition_finish(e, &err), status);
		assert_string_equal(read_back.data, expected);
		assert_int_equal(exposition_bad_lines(e), bad);
		exposition_free(e);
	}
}

static void expect(const char *text, const char *expected)
{
	expect_bad(text, expected, 0, 0);
}

static void test_lines(void **state)
{
	(void)state;
	expect("up 1\n", "u up{} 1\n");
	expect("up 1", "u up{} 1\n");
	expect("\n\n  up\t 1 \r\n# a comment\n#\n#no comment\nvllm:n{} 2.5e-3 1700000000123\n",
	       "u up{} 1\nu vllm:n{} 0.0025\n");
	expect("a{b=\"c\",d=\"\",} +Inf\na { b = \"c\" , d = \"e\" } -Inf -5\n", "u a{b=c,d=,} inf\nu a{b=c,d=e,} -inf\n");
	expect("a NaN\na inf\n", "u a{} nan\nu a{} inf\n");
}

static void test_numbers(void **state)
{
	double value;
	(void)state;
	static const char *const good[] = {"0", "-1", "+1", "1e3", "1.", ".5", "NaN", "nan", "+Inf", "-inf", "Infinity"};
	static const char *const bad[] = {"", "e", "0x10", "1_000", "1e", "--1", "+", "infinit", "1 ", "nan(1)", "1,5"};
	for (size_t i = 0; i < sizeof good / sizeof *good; i++)
		assert_true(exposition_number(slice_of(good[i]), &value));
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		assert_false(exposition_number(slice_of(bad[i]), &value));
	assert_true(exposition_number(slice_of("-2.5e1"), &value));
	assert_true(value == -25);
}

static void test_escapes(void **state)
{
	(void)state;
	expect("a{b=\"x\\\\y\\\"z\\nw\\t\"} 1\n", "u a{b=x\\y\"z\nw\\t,} 1\n");
	expect("a{b=\"}, # {\"} 1 # {c=\"d\"} 2 3\n", "u a{b=}, # {,} 1\n");
	expect("{\"http.requests\",\"my.label\"=\"é\",x=\"y\"} 3\n", "u http.requests{my.label=é,x=y,} 3\n");
	expect("{\"only \\\"a\\\" name\"} 3\n", "u only \"a\" name{} 3\n");
}

static void test_families(void **state)
{
	(void)state;
	expect("# HELP a help \"text\n# TYPE a counter\n# UNIT a seconds\na_total 1\na_created 2\nab 3\n"
	       "# TYPE h histogram\nh_bucket{le=\"1\"} 4 # {} 0.5\nh_count 5\nh_sum 6\n# TYPE \"g.g\" gauge\n{\"g.g\"} 7\n"
	       "# TYPE s summary\ns{quantile=\"0.5\"} 8\n# TYPE t unknown\nt 9\n# EOF\n",
	       "c a_total{} 1\nc a_created{} 2\nu ab{} 3\nh h_bucket{le=1,} 4\nh h_count{} 5\nh h_sum{} 6\ng g.g{} 7\n"
	       "s s{quantile=0.5,} 8\nu t{} 9\n");
}

static void test_bad_lines_are_skipped(void **state)
{
	(void)state;
	static const char *const bad[] = {
		"1a 1",
		"a",
		"a b",
		"a{b} 1",
		"a{b=c} 1",
		"a{b=\"c} 1",
		"a{b=\"c\" d=\"e\"} 1",
		"a 1 2 3",
		"a 1 x",
		"a{\"b\"} 1",
		"{} 1",
		"{\"\"} 1",
		"{a=\"b\"} 1",
		"a{b=\"c\"}",
		"a{0=\"c\"} 1",
		"a{b:c=\"d\"} 1",
		"a 1 #{} 1",
		"a 1 # b",
		"<html>",
		"a{,} 1",
		"a\xff 1",
		"a{b=\"\x80\"} 1",
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		char text[100];
		snprintf(text, sizeof text, "ok 1\n%s\nok 2\n", bad[i]);
		expect_bad(text, "u ok{} 1\nu ok{} 2\n", 1, 0);
		expect_bad(bad[i], "", 1, -1);
	}
	expect_bad("a 1\n# EOF\nb 2\n", "u a{} 1\n", 1, 0);
	expect_bad("", "", 0, -1);
	expect_bad("\n# only comments\n", "", 0, -1);
	expect("# EOF\n", "");
}

static void test_long_lines_and_many_labels(void **state)
{
	struct buffer text = {0};
	struct exposition *e = exposition_new(note, NULL);
	struct ipf_error err = {0};
	(void)state;
	buffer_clear(&read_back);
	exposition_feed(e, "a 1\nb{c=\"", 9);
	for (size_t i = 0; i < 3 * EXPOSITION_LINE_MAX; i++)
		exposition_feed(e, "x", 1);
	exposition_feed(e, "\"} 1\na 2\n", 9);
	for (int i = 0; i < 70; i++)
		buffer_format(&text, "%sl%d=\"v\"", i ? "," : "a{", i);
	buffer_text(&text, "} 3\na 4\n");
	exposition_feed(e, text.data, text.len);
	assert_int_equal(exposition_finish(e, &err), 0);
	assert_string_equal(read_back.data, "u a{} 1\nu a{} 2\nu a{} 4\n");
	assert_int_equal(exposition_bad_lines(e), 2);
	exposition_free(e);
	exposition_free(NULL);
	buffer_release(&text);
}

static void test_says_what_is_wrong(void **state)
{
	struct exposition *e = exposition_new(note, NULL);
	struct ipf_error err = {0};
	const char *text = "\n<html>\033[2J</html>\n";
	(void)state;
	exposition_feed(e, text, strlen(text));
	assert_int_equal(exposition_finish(e, &err), -1);
	assert_string_equal(err.text, "no metrics: line 2: expected the name of a metric, got \"<html>\\x1b[2J</html>\"");
	exposition_free(e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_escapes),
		cmocka_unit_test(test_families),
		cmocka_unit_test(test_bad_lines_are_skipped),
		cmocka_unit_test(test_long_lines_and_many_labels),
		cmocka_unit_test(test_says_what_is_wrong),
	};
	int status = cmocka_run_group_tests(tests, NULL, NULL);
	buffer_release(&read_back);
	return status;
}
