/* The parts of reading other tools' files: JSON in order, the outline a file is recognised by, figures named in one
 * key. */
#include "unit.h"

#include "absent.h"
#include "imports/flat_figures.h"
#include "imports/import.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A reader of the text, through a file. */
static struct stream_reader *reader_of(const char *text)
{
	char path[] = "/tmp/ipf-imports.XXXXXX";
	struct stream_reader *input;
	struct ipf_error err = {0};
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(stream_reader_open_input(&input, path, &err), 0);
	unlink(path);
	return input;
}

static void json_is_read_in_order(void **state)
{
	(void)state;
	struct stream_reader *input = reader_of(
		" {\"a\\\"b\" : [1, -2.5e3,NaN ,null, Infinity],\n\"skip\":{\"x\":[[],{}, \"]\\\"\"]},\"v\":{\"y\":[NaN]}}\n{}\n");
	struct json_pull p;
	struct ipf_error err = {0};
	struct slice key;
	struct buffer raw = {0};
	const double expected[] = {1, -2500, NAN, NAN, NAN};
	double value;
	json_pull_init(&p, input);
	assert_int_equal(json_pull_document(&p, &err), 1);
	assert_int_equal(json_pull_type(&p, &err), JDOC_MAP);
	assert_int_equal(json_pull_enter(&p, JDOC_MAP, &err), 0);
	assert_int_equal(json_pull_member(&p, &key, &err), 1);
	assert_true(slice_is(key, "a\\\"b"));
	assert_int_equal(json_pull_enter(&p, JDOC_LIST, &err), 0);
	for (size_t i = 0; i < 5; i++) {
		assert_int_equal(json_pull_element(&p, &err), 1);
		assert_int_equal(json_pull_number(&p, &value, &err), 0);
		assert_true(isnan(expected[i]) ? isnan(value) : value == expected[i]);
	}
	assert_int_equal(json_pull_element(&p, &err), 0);
	assert_int_equal(json_pull_member(&p, &key, &err), 1);
	assert_int_equal(json_pull_skip(&p, &err), 0);
	assert_int_equal(json_pull_member(&p, &key, &err), 1);
	assert_int_equal(json_pull_value(&p, &raw, &err), 0);
	assert_string_equal(raw.data, "{\"y\":[null]}");
	assert_int_equal(json_pull_member(&p, &key, &err), 0);
	assert_int_equal(json_pull_document(&p, &err), 1);
	assert_int_equal(json_pull_skip(&p, &err), 0);
	assert_int_equal(json_pull_document(&p, &err), 0);
	buffer_release(&raw);
	json_pull_release(&p);
	stream_reader_close(input);
}

/* Reads {"itls": [[numbers]]}. */
static int read_lists(const char *text, struct ipf_error *err)
{
	struct stream_reader *input = reader_of(text);
	struct json_pull p;
	struct slice key;
	double value;
	int got;
	json_pull_init(&p, input);
	got = json_pull_document(&p, err) == 1 ? json_pull_enter(&p, JDOC_MAP, err) : -1;
	while (got >= 0 && (got = json_pull_member(&p, &key, err)) == 1) {
		got = json_pull_enter(&p, JDOC_LIST, err);
		while (got >= 0 && (got = json_pull_element(&p, err)) == 1) {
			got = json_pull_enter(&p, JDOC_LIST, err);
			while (got >= 0 && (got = json_pull_element(&p, err)) == 1)
				got = json_pull_number(&p, &value, err);
		}
	}
	json_pull_release(&p);
	stream_reader_close(input);
	return got;
}

static void errors_name_the_member(void **state)
{
	(void)state;
	static const struct {
		const char *text, *error;
		int64_t line;
	} cases[] = {
		{"{\"itls\":[[1],[2,\n\"x\"]]}", "itls[1][1]: expected a number, got \"x\"", 2},
		{"{\"itls\":[[1],{}]}", "itls[1]: expected a list, got {", 1},
		{"{\"itls\":[[0x10]]}", "itls[0][0]: expected a number, got 0x10", 1},
		{"{\"itls\":[[1 2]]}", "itls[0][0]: expected \",\" or \"]\", got 2", 1},
		{"{\"itls\":[[1]", "cut: the JSON ends in the middle", 1},
		{"{\"it", "cut: the JSON ends in the middle", 1},
		{"{\"itls\" [", "itls: expected \":\", got [", 1},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ipf_error err = {0};
		assert_int_equal(read_lists(cases[i].text, &err), -1);
		assert_string_equal(err.text, cases[i].error);
		assert_int_equal(err.line, cases[i].line);
	}
	struct ipf_error err = {0};
	assert_int_equal(read_lists("{\"itls\":[[],[1,2]],\"other\":[]}", &err), 0);
}

static void outlines_have_the_first_elements(void **state)
{
	(void)state;
	struct file_outline o = {0};
	file_outline_read(
		&o,
		slice_of(
			"{\"a\":{\"b\":1,\"c\":{\"d\":[{\"e\":1}]}},\"l\":[{\"x\":\"a\\\"b\"},{\"y\":1}],\"z\":1}{\"second\":1}"));
	static const char *const there[] = {"a", "a.b", "a.c", "a.c.d", "l", "l[].x", "z"}, *const missing[] = {
																							"b", "l[].y", "second",
																							"e", "x",     ""};
	for (size_t i = 0; i < sizeof there / sizeof *there; i++)
		assert_true(file_outline_has(&o, there[i]));
	for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
		assert_false(file_outline_has(&o, missing[i]));
	file_outline_release(&o);
	file_outline_read(&o, slice_of("[{\"start\":[1,2],\"info\":{\"k\":"));
	assert_true(file_outline_has(&o, "[].start") && file_outline_has(&o, "[].info.k"));
	file_outline_release(&o);
	file_outline_read(&o, slice_of("]}]}\"\\"));
	assert_false(file_outline_has(&o, "a"));
	file_outline_release(&o);
}

static void figures_are_named_in_one_key(void **state)
{
	(void)state;
	static const struct flat_metric known[] = {{"ttft", offsetof(struct stated_stage, start[METRIC_TTFT])},
	                                           {"e2el", offsetof(struct stated_stage, start[METRIC_E2E])},
	                                           {NULL, 0}};
	static const char *const unknown[] = {"mean_tpot_ms",
	                                      "ttft_ms",
	                                      "p_ttft_ms",
	                                      "p100_ttft_ms",
	                                      "pnan_ttft_ms",
	                                      "p99x_ttft_ms",
	                                      "mean_ttft_s",
	                                      "",
	                                      "a_very_long_beginning_of_it_ttft_ms"};
	struct stated_stage stage;
	stated_stage_init(&stage);
	struct stated_summary *s = &stage.start[METRIC_TTFT];
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
		assert_false(flat_figure(&stage, known, slice_of(unknown[i]), 1));
	assert_false(s->has);
	assert_true(flat_figure(&stage, known, slice_of("p99.9_ttft_ms"), 3));
	assert_true(flat_figure(&stage, known, slice_of("median_ttft_ms"), 2));
	assert_true(flat_figure(&stage, known, slice_of("mean_ttft_ms"), 1));
	assert_true(flat_figure(&stage, known, slice_of("p99.9_ttft_ms"), 4)); /* the first one counts */
	assert_true(s->has && s->count == 2 && s->mean == 1 && isnan(s->std));
	assert_true(s->p[0] == 50 && s->value[0] == 2 && s->value[1] == 3);
	for (int i = 1; i < 60; i++)
		stated_percentile(s, i, i);
	assert_int_equal(s->count, STATED_PERCENTILES);
	assert_false(stage.start[METRIC_E2E].has);
}

static void times_and_counts_have_bounds(void **state)
{
	(void)state;
	assert_int_equal(import_ns(1.5, 1e9), 1500000000);
	assert_int_equal(import_ns(NAN, 1e9), IPF_ABSENT);
	assert_int_equal(import_ns(1e300, 1e9), IPF_ABSENT);
	assert_int_equal(import_count(-1), IPF_ABSENT);
	assert_int_equal(import_count(INFINITY), IPF_ABSENT);
	assert_int_equal(import_count(7), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(json_is_read_in_order),
		cmocka_unit_test(errors_name_the_member),
		cmocka_unit_test(outlines_have_the_first_elements),
		cmocka_unit_test(figures_are_named_in_one_key),
		cmocka_unit_test(times_and_counts_have_bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
