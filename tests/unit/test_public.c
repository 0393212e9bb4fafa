/* The functions of libipf, as a program that links it: paths of members, options with a size, two readers at once. */
#include <ipf/ipf.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];

static int make_path(void **state)
{
	(void)state;
	snprintf(path, sizeof path, "public.%ld.trace", (long)getpid());
	return 0;
}

static int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

static void write_records(const char *line)
{
	struct ipf_error err = {0};
	struct ipf_writer *w;
	assert_int_equal(ipf_writer_open(&w, path, "records", "test 1", "{\"api\":{\"name\":\"x\"}}", &err), 0);
	assert_int_equal(ipf_writer_line(w, line, &err), 0);
	assert_int_equal(ipf_writer_close(w, &err), 0);
}

static void members_are_found_by_their_path(void **state)
{
	(void)state;
	struct ipf_error err = {0};
	struct ipf_reader *r;
	struct ipf_line *line;
	int64_t i;
	double d;
	int flag;
	const char *text;
	size_t len;
	write_records(
		"{\"n\":7,\"reads\":[[1,2,3],[4,5,6]],\"error\":{\"kind\":\"a\\u00e4\\n\"},\"ok\":true,\"x\":1.5,\"gone\":null}");
	assert_int_equal(ipf_reader_open(&r, path, NULL, &err), 0);
	assert_string_equal(ipf_reader_kind(r), "records");
	assert_int_equal(ipf_line_text(ipf_reader_header(r), "api.name", &text, NULL, &err), 1);
	assert_string_equal(text, "x");
	assert_null(ipf_reader_trailer(r));
	assert_int_equal(ipf_reader_next(r, &line, &err), 1);
	assert_int_equal(ipf_line_kind(line), IPF_LINE_RECORD);
	assert_int_equal(ipf_line_number(line), 2);
	assert_int_equal(ipf_line_integer(line, "reads.1.2", &i, &err), 1);
	assert_int_equal(i, 6);
	assert_int_equal(ipf_line_integer(line, "reads.2.0", &i, &err), 0);
	assert_true(i == IPF_ABSENT);
	assert_int_equal(ipf_line_integer(line, "reads.x", &i, &err), 0);
	assert_int_equal(ipf_line_integer(line, "gone", &i, &err), 0);
	assert_int_equal(ipf_line_text(line, "error.kind", &text, &len, &err), 1);
	assert_string_equal(text, "a\xc3\xa4\n");
	assert_int_equal(len, 4);
	assert_int_equal(ipf_line_flag(line, "ok", &flag, &err), 1);
	assert_true(flag);
	assert_int_equal(ipf_line_double(line, "x", &d, &err), 1);
	assert_true(d == 1.5);
	assert_non_null(ipf_line_json(line, &len));
	assert_int_equal(ipf_line_integer(line, "n", &i, &err), 1);
	assert_int_equal(i, 7);
	assert_int_equal(ipf_line_count(line, "reads"), 2);
	assert_int_equal(ipf_line_count(line, "error"), 1);
	assert_int_equal(ipf_line_count(line, "n"), 0);
	assert_int_equal(ipf_line_integer(line, "error.kind", &i, &err), -1);
	assert_int_equal(err.line, 2);
	assert_int_equal(err.kind, IPF_INPUT);
	ipf_error_clear(&err);
	assert_int_equal(ipf_reader_next(r, &line, &err), 0);
	assert_int_equal(ipf_line_integer(ipf_reader_trailer(r), "lines", &i, &err), 1);
	assert_int_equal(i, 1);
	ipf_reader_close(r);
}

static void bad_arguments_are_refused(void **state)
{
	(void)state;
	struct ipf_error err = {0};
	struct ipf_writer *w;
	struct ipf_reader *r;
	struct ipf_request request = IPF_REQUEST_INIT;
	assert_int_equal(ipf_writer_open(&w, path, "traces", "test", NULL, &err), -1);
	assert_string_equal(err.text, "kind: expected trace, schedule, records or results, got \"traces\"");
	ipf_error_clear(&err);
	assert_int_equal(ipf_reader_open(&r, path, "traces", &err), -1);
	assert_int_equal(err.kind, IPF_USAGE);
	ipf_error_clear(&err);
	assert_int_equal(ipf_writer_open(&w, path, "trace", "test", "[]", &err), -1);
	ipf_error_clear(&err);
	assert_int_equal(ipf_writer_open(&w, path, "trace", "test", "{\"version\":2}", &err), -1);
	assert_string_equal(err.text, "header: version is the library's");
	ipf_error_clear(&err);
	assert_int_equal(ipf_writer_open(&w, path, "trace", "test", NULL, &err), 0);
	assert_int_equal(ipf_writer_line(w, "{\"a\":1}\n{\"b\":2}", &err), -1);
	ipf_error_clear(&err);
	assert_int_equal(ipf_writer_line(w, "{\"a\":\n1}", &err), -1);
	ipf_error_clear(&err);
	assert_int_equal(ipf_writer_line(w, "[1]", &err), -1);
	ipf_error_clear(&err);
	request.size = sizeof request + 8;
	assert_int_equal(ipf_writer_request(w, &request, &err), -1);
	assert_int_equal(err.kind, IPF_USAGE);
	ipf_error_clear(&err);
	assert_int_equal(ipf_writer_close(w, &err), 0);
}

static void two_readers_share_nothing(void **state)
{
	(void)state;
	struct ipf_error first = {0}, second = {0};
	struct ipf_reader *a, *b;
	struct ipf_line *of_a, *of_b;
	int64_t n;
	write_records("{\"n\":1}");
	assert_int_equal(ipf_reader_open(&a, path, "records", &first), 0);
	assert_int_equal(ipf_reader_open(&b, path, "records", &second), 0);
	assert_int_equal(ipf_reader_next(a, &of_a, &first), 1);
	assert_int_equal(ipf_reader_next(b, &of_b, &second), 1);
	ipf_reader_close(b);
	assert_int_equal(ipf_line_integer(of_a, "n", &n, &first), 1);
	assert_int_equal(n, 1);
	ipf_reader_close(a);
}

static void runs_refuse_what_is_for_programs(void **state)
{
	(void)state;
	static const char *const refused[] = {"probe", "calibrate", "verbose", "max-line", "help",
	                                      "shape", "-o",        "url=x",   ""};
	struct ipf_error err = {0};
	struct ipf_run_callbacks callbacks = IPF_RUN_CALLBACKS_INIT;
	struct ipf_run *run;
	assert_int_equal(ipf_run_open(&run, &err), 0);
	assert_int_equal(ipf_run_observe(run, &callbacks, &err), 0);
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		assert_int_equal(ipf_run_set(run, refused[i], "x", &err), -1);
		assert_int_equal(err.kind, IPF_USAGE);
		ipf_error_clear(&err);
	}
	assert_int_equal(ipf_run_fire(run, "none.sched", &err), -1);
	assert_string_equal(err.text, "output: missing: expected a file");
	ipf_error_clear(&err);
	assert_int_equal(ipf_run_set(run, "output", "-", &err), -1);
	ipf_error_clear(&err);
	assert_int_equal(ipf_run_set(run, "output", "/dev/null", &err), 0);
	assert_int_equal(ipf_run_fire(run, "-", &err), -1);
	ipf_error_clear(&err);
	assert_int_equal(ipf_run_fire(run, "none.sched", &err), -1);
	assert_string_equal(err.text, "--url is required");
	ipf_error_clear(&err);
	assert_int_equal(ipf_run_set(run, "url", "http://127.0.0.1:9", &err), 0);
	assert_int_equal(ipf_run_set(run, "trace", "none.trace", &err), 0);
	ipf_run_stop(run);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ipf_run_fire(run, "none.sched", &err), -1);
		assert_int_equal(err.kind, IPF_SYSTEM);
		ipf_error_clear(&err);
	}
	assert_int_equal(ipf_run_set(run, "timeout", "soon", &err), 0);
	assert_int_equal(ipf_run_fire(run, "none.sched", &err), -1);
	assert_int_equal(err.kind, IPF_USAGE);
	ipf_run_close(run);
}

static void statistics_agree(void **state)
{
	(void)state;
	struct ipf_samples *s = ipf_samples_new();
	struct ipf_histogram *h = ipf_histogram_new(), *more = ipf_histogram_new();
	double low, high;
	int64_t from, to, count, sum = 0;
	int next = 0;
	assert_true(isnan(ipf_samples_percentile(s, 50)));
	assert_int_equal(ipf_samples_interval(s, &low, &high), -1);
	for (int i = 1; i <= 100; i++) {
		assert_int_equal(ipf_samples_add(s, i * 7 % 101), 0);
		assert_int_equal(ipf_histogram_add(h, i, 1), 0);
	}
	ipf_samples_add(s, NAN);
	assert_int_equal(ipf_samples_interval(s, &low, &high), 0);
	assert_true(low < 50.5 && 50.5 < high);
	assert_int_equal(ipf_samples_count(s), 100);
	assert_true(ipf_samples_percentile(s, 50) == 50.5);
	assert_true(ipf_samples_mean(s) == 50.5);
	assert_int_equal(ipf_samples_needed(99), 459);
	assert_int_equal(ipf_histogram_merge(more, h), 0);
	assert_int_equal(ipf_histogram_count(more), 100);
	assert_true(ipf_histogram_percentile(more, 50) == 50.5);
	while (ipf_histogram_next(more, &next, &from, &to, &count))
		sum += count;
	assert_int_equal(sum, 100);
	ipf_samples_free(s);
	ipf_histogram_free(h);
	ipf_histogram_free(more);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(members_are_found_by_their_path, make_path, remove_path),
		cmocka_unit_test_setup_teardown(bad_arguments_are_refused, make_path, remove_path),
		cmocka_unit_test_setup_teardown(two_readers_share_nothing, make_path, remove_path),
		cmocka_unit_test(runs_refuse_what_is_for_programs),
		cmocka_unit_test(statistics_agree),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
