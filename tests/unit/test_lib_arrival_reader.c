#include "unit.h"

#include "requests/arrival_reader.h"
#include "stream/provenance.h"

#include <dirent.h>
#include <unistd.h>

static char trace_path[] = "/tmp/ipf-test-plan-t-XXXXXX", schedule_path[] = "/tmp/ipf-test-plan-s-XXXXXX";

/* ---- writing both ---- */

static void write_stream(const char *path, const char *kind, json_t *more, const char *const *lines)
{
	struct ipf_error err = {0};
	struct provenance p = {.tool = "test"};
	json_t *header = stream_header(kind, &p);
	struct stream_writer *w;
	json_object_update(header, more);
	json_decref(more);
	assert_int_equal(stream_writer_open(&w, path, header, &err), 0);
	for (size_t i = 0; lines[i]; i++) {
		struct buffer line = {0};
		buffer_text(&line, lines[i]);
		assert_int_equal(stream_writer_line(w, &line, &err), 0);
		buffer_release(&line);
	}
	assert_int_equal(stream_writer_close(w, NULL, &err), 0);
	json_decref(header);
}

static void write_trace(int count)
{
	static char texts[16][32];
	const char *lines[17] = {0};
	for (int i = 0; i < count; i++) {
		snprintf(texts[i], sizeof texts[i], "{\"id\":\"r%d\",\"prompt\":\"p\"}", i);
		lines[i] = texts[i];
	}
	write_stream(trace_path, "trace", json_object(), lines);
}

/* The digest of the file of write_trace. */
static void trace_digest(char hex[65])
{
	struct stream_reader *r;
	struct slice line;
	struct ipf_error err = {0};
	assert_int_equal(stream_reader_open(&r, trace_path, "trace", &err), 0);
	while (stream_reader_next(r, &line, &err) == 1)
		;
	memcpy(hex, stream_reader_sha256(r), 65);
	stream_reader_close(r);
}

static json_t *stage(const char *name, const char *members)
{
	json_t *s = json_loads(members, 0, NULL);
	assert_non_null(s);
	json_object_set_new(s, "name", json_string(name));
	return s;
}

static json_t *stages_header(json_t *stages, int64_t requests)
{
	char hex[65];
	trace_digest(hex);
	return json_pack("{s:o, s:{s:s, s:I}}", "stages", stages, "trace", "sha256", hex, "requests", (json_int_t)requests);
}

static struct arrival_reader *open_plan(void)
{
	struct arrival_reader *p;
	struct ipf_error err = {0};
	if (arrival_reader_open(&p, schedule_path, trace_path, 0, &err) < 0)
		fail_msg("%s: %s", err.file, err.text);
	return p;
}

static void assert_next(struct arrival_reader *p, size_t lane, int64_t n, const char *id, int64_t after)
{
	struct arrival_request x;
	struct ipf_error err = {0};
	if (arrival_reader_next(p, lane, &x, &err) != 1)
		fail_msg("lane %zu has no n %lld: %s", lane, (long long)n, err.text);
	assert_int_equal(x.arrival.n, n);
	assert_true(slice_is(x.request.id, id));
	assert_int_equal(x.arrival.after_count, after >= 0);
	if (after >= 0)
		assert_int_equal(x.arrival.after[0], after);
}

static void assert_none(struct arrival_reader *p, size_t lane, int expected)
{
	struct arrival_request x;
	struct ipf_error err = {0};
	assert_int_equal(arrival_reader_next(p, lane, &x, &err), expected);
	assert_int_equal(err.kind, IPF_OK);
}

/* ---- cases ---- */

static void test_a_schedule_as_it_stands(void **state)
{
	static const char *const lines[] = {"{\"n\":0,\"at_ns\":0,\"req\":0,\"stage\":0}",
	                                    "{\"n\":1,\"req\":1,\"stage\":0,\"after\":[0],\"wait_ns\":5}",
	                                    "{\"n\":2,\"at_ns\":7,\"req\":0,\"stage\":0}", NULL};
	(void)state;
	write_trace(2);
	write_stream(
		schedule_path, "schedule",
		stages_header(json_pack("[o]", stage("a", "{\"begin_ns\":0,\"end_ns\":10,\"arrivals\":3,\"first_n\":0}")), 2),
		lines);
	struct arrival_reader *p = open_plan();
	assert_int_equal(arrival_reader_lanes(p), 1);
	assert_int_equal(arrival_reader_lane_stage(p, 0), -1);
	assert_next(p, 0, 0, "\"r0\"", -1);
	assert_next(p, 0, 1, "\"r1\"", 0);
	assert_next(p, 0, 2, "\"r0\"", -1);
	assert_none(p, 0, 0);
	assert_none(p, 0, 0);
	assert_int_equal(arrival_reader_cut(p)->kind, IPF_OK);
	json_t *from = arrival_reader_from(p);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(from, 0), "lines")), 3);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(from, 1), "lines")), 2);
	json_decref(from);
	arrival_reader_close(p);
}

static void test_stages_that_go_round_have_lanes(void **state)
{
	static const char *const lines[] = {
		"{\"n\":0,\"at_ns\":0,\"req\":0,\"stage\":0}",     "{\"n\":1,\"req\":1,\"stage\":1}",
		"{\"n\":2,\"req\":2,\"stage\":1,\"after\":[1]}",   "{\"n\":1001,\"req\":0,\"stage\":2}",
		"{\"n\":2001,\"at_ns\":20,\"req\":1,\"stage\":3}", NULL};
	(void)state;
	write_trace(3);
	json_t *stages = json_pack(
		"[o,o,o,o]", stage("a", "{\"begin_ns\":0,\"end_ns\":10,\"arrivals\":1,\"first_n\":0}"),
		stage(
			"b",
			"{\"begin_ns\":10,\"end_ns\":15,\"arrivals\":2,\"first_n\":1,\"closed\":true,\"cycle\":true,\"slots\":1}"),
		stage(
			"c",
			"{\"begin_ns\":15,\"end_ns\":20,\"arrivals\":1,\"first_n\":1001,\"closed\":true,\"cycle\":true,\"slots\":1}"),
		stage("d", "{\"begin_ns\":20,\"end_ns\":30,\"arrivals\":1,\"first_n\":2001}"));
	write_stream(schedule_path, "schedule", stages_header(stages, 3), lines);
	struct arrival_reader *p = open_plan();
	assert_int_equal(arrival_reader_lanes(p), 3);
	assert_int_equal(arrival_reader_lane_stage(p, 1), 1);
	assert_int_equal(arrival_reader_lane_stage(p, 2), 2);
	assert_none(p, 1, 2); /* not yet: lane 0 has not come there */
	assert_next(p, 0, 0, "\"r0\"", -1);
	assert_none(p, 1, 2);
	assert_next(p, 0, 2001, "\"r1\"", -1);
	for (int round = 0; round < 3; round++) {
		assert_next(p, 1, 1 + 2 * round, "\"r1\"", -1);
		assert_next(p, 1, 2 + 2 * round, "\"r2\"", 1 + 2 * round);
		assert_next(p, 2, 1001 + round, "\"r0\"", -1);
	}
	assert_none(p, 0, 0);
	arrival_reader_close(p);
}

static size_t open_files(void)
{
	size_t count = 0;
	DIR *d = opendir("/proc/self/fd");
	assert_non_null(d);
	while (readdir(d))
		count++;
	closedir(d);
	return count;
}

/* --new-prompts: each stage has the next copy of the trace; of those before the last stage, none stays open. */
static void test_copies_that_stages_leave_are_closed(void **state)
{
	(void)state;
	enum { STAGES = 20 };
	static char texts[STAGES + 1][64];
	const char *lines[STAGES + 2] = {0};
	json_t *stages = json_array();
	for (int i = 0; i < STAGES; i++) {
		snprintf(texts[i], sizeof texts[i], "{\"n\":%d,\"req\":%d,\"at_ns\":%d,\"stage\":%d,\"copy\":%d}", i, i % 2, i,
		         i, i);
		lines[i] = texts[i];
		json_array_append_new(stages, json_pack("{s:s, s:i, s:i, s:i, s:i}", "name", "s", "begin_ns", 100 * i, "end_ns",
		                                        100 * i + 100, "arrivals", i < STAGES - 1 ? 1 : 2, "first_n", i));
	}
	/* one that comes back */
	snprintf(texts[STAGES], sizeof texts[0], "{\"n\":%d,\"req\":1,\"at_ns\":1999,\"stage\":%d,\"copy\":3}", STAGES,
	         STAGES - 1);
	lines[STAGES] = texts[STAGES];
	write_trace(2);
	write_stream(schedule_path, "schedule", stages_header(stages, 2), lines);
	struct arrival_reader *p = open_plan();
	size_t before = open_files();
	char id[24];
	for (int i = 0; i <= STAGES; i++) {
		int copy = i < STAGES ? i : 3;
		snprintf(id, sizeof id, copy ? "\"r%d-copy%02d\"" : "\"r%d\"", i < STAGES ? i % 2 : 1, copy);
		assert_next(p, 0, i, id, -1);
		assert_in_range(open_files(), before, before + 3);
	}
	assert_none(p, 0, 0);
	arrival_reader_close(p);
}

static void test_requests_go_round_if_there_is_no_trace(void **state)
{
	static const char *const lines[] = {
		"{\"n\":0,\"at_ns\":0,\"req\":0,\"stage\":0}", "{\"n\":1,\"at_ns\":1,\"req\":1,\"stage\":0}",
		"{\"n\":2,\"at_ns\":2,\"req\":2,\"stage\":0}", "{\"n\":3,\"at_ns\":3,\"req\":7,\"stage\":0}", NULL};
	json_t *stages = json_pack("{s:[o]}", "stages",
	                           stage("a", "{\"begin_ns\":0,\"end_ns\":10,\"arrivals\":4,\"first_n\":0}"));
	struct arrival_request x;
	struct ipf_error err = {0};
	(void)state;
	write_trace(2);
	write_stream(schedule_path, "schedule", stages, lines);
	struct arrival_reader *p = open_plan();
	assert_next(p, 0, 0, "\"r0\"", -1);
	assert_next(p, 0, 1, "\"r1\"", -1);
	assert_next(p, 0, 2, "\"r0\"", -1);
	assert_int_equal(arrival_reader_next(p, 0, &x, &err), 1);
	assert_int_equal(x.arrival.req, 1);
	arrival_reader_close(p);
}

static void test_requests_that_warm_up_go_first(void **state)
{
	static const char *const trace[] = {
		"{\"id\":\"a0\",\"session\":\"a\",\"turn\":0,\"messages\":[{\"role\":\"user\",\"content\":\"x\"}]}",
		"{\"id\":\"a1\",\"session\":\"a\",\"turn\":1,\"messages\":[{\"role\":\"user\",\"content\":\"y\"}],\"context\":\"session\"}",
		"{\"id\":\"b\",\"prompt\":\"p\"}", "{\"id\":\"c\",\"prompt\":\"p\",\"parents\":[\"b\"]}", NULL};
	static const char *const lines[] = {"{\"n\":0,\"at_ns\":0,\"req\":3,\"stage\":0}",
	                                    "{\"n\":1,\"req\":2,\"stage\":1}", NULL};
	static const char *const ids[] = {"\"a0\"", "\"b\"", "\"a0\"", "\"b\"", "\"a0\""};
	const int64_t first = INT64_C(1) << 52;
	struct arrival_reader *p;
	struct arrival_request x;
	struct ipf_error err = {0};
	(void)state;
	write_stream(trace_path, "trace", json_object(), trace);
	json_t *stages = json_pack(
		"[o,o]", stage("warm", "{\"begin_ns\":0,\"end_ns\":10,\"arrivals\":1,\"first_n\":0}"),
		stage(
			"b",
			"{\"begin_ns\":10,\"end_ns\":15,\"arrivals\":1,\"first_n\":1,\"closed\":true,\"cycle\":true,\"slots\":1}"));
	write_stream(schedule_path, "schedule", stages_header(stages, 4), lines);
	assert_int_equal(arrival_reader_open(&p, schedule_path, trace_path, 5, &err), 0);
	const struct schedule *s = arrival_reader_schedule(p);
	assert_int_equal(s->count, 3);
	assert_string_equal(s->stages[0].name, "--warm"); /* the other name is taken */
	assert_false(s->stages[0].measured);
	assert_int_equal(s->stages[0].arrivals, 5);
	assert_string_equal(s->stages[1].name, "warm");
	assert_int_equal(arrival_reader_lane_stage(p, 1), 2);
	for (int i = 0; i < 5; i++) {
		assert_next(p, 0, first + i, ids[i], -1);
		assert_none(p, 1, 2);
	}
	assert_int_equal(arrival_reader_next(p, 0, &x, &err), 1);
	assert_int_equal(x.arrival.n, 0);
	assert_int_equal(x.arrival.stage, 1);
	assert_true(slice_is(x.request.id, "\"c\""));
	assert_none(p, 0, 0);
	assert_int_equal(arrival_reader_next(p, 1, &x, &err), 1);
	assert_int_equal(x.arrival.n, 1);
	assert_int_equal(x.arrival.stage, 2);
	arrival_reader_close(p);
	write_stream(trace_path, "trace", json_object(), (const char *const[]){trace[3], NULL});
	write_stream(
		schedule_path, "schedule",
		stages_header(json_pack("[o]", stage("a", "{\"begin_ns\":0,\"end_ns\":10,\"arrivals\":0,\"first_n\":0}")), 1),
		(const char *const[]){NULL});
	assert_int_equal(arrival_reader_open(&p, schedule_path, trace_path, 1, &err), 0);
	assert_int_equal(arrival_reader_next(p, 0, &x, &err), -1);
	assert_int_equal(err.kind, IPF_INPUT);
	arrival_reader_close(p);
}

static void assert_refused(enum ipf_error_kind kind, const char *part)
{
	struct arrival_reader *p;
	struct ipf_error err = {0};
	assert_int_equal(arrival_reader_open(&p, schedule_path, trace_path, 0, &err), -1);
	assert_null(p);
	assert_int_equal(err.kind, kind);
	if (!strstr(err.text, part))
		fail_msg("\"%s\" does not say \"%s\"", err.text, part);
}

static void test_a_trace_that_does_not_fit_is_refused(void **state)
{
	static const char *const lines[] = {"{\"n\":0,\"at_ns\":0,\"req\":0,\"stage\":0}", NULL};
	static const char *const none[] = {NULL};
	(void)state;
	write_trace(2);
	json_t *header = stages_header(
		json_pack("[o]", stage("a", "{\"begin_ns\":0,\"end_ns\":10,\"arrivals\":1,\"first_n\":0}")), 2);
	write_trace(3);
	write_stream(schedule_path, "schedule", header, lines);
	assert_refused(IPF_INPUT, "not the trace");
	write_stream(
		schedule_path, "schedule",
		stages_header(
			json_pack(
				"[o]",
				stage("a", "{\"begin_ns\":0,\"arrivals\":1,\"first_n\":0,\"closed\":true,\"cycle\":true,\"slots\":1}")),
			3),
		lines);
	assert_refused(IPF_INPUT, "cycle");
	write_stream(trace_path, "trace", json_object(), none);
	write_stream(
		schedule_path, "schedule",
		stages_header(json_pack("[o]", stage("a", "{\"begin_ns\":0,\"end_ns\":10,\"arrivals\":0,\"first_n\":0}")), 0),
		none);
	assert_refused(IPF_INPUT, "no requests");
}

static void test_a_cut_schedule_gives_what_is_good(void **state)
{
	static const char *const lines[] = {"{\"n\":0,\"at_ns\":0,\"req\":0,\"stage\":0}",
	                                    "{\"n\":1,\"at_ns\":1,\"req\":1,\"stage\":0}", NULL};
	(void)state;
	write_trace(2);
	write_stream(
		schedule_path, "schedule",
		stages_header(json_pack("[o]", stage("a", "{\"begin_ns\":0,\"end_ns\":10,\"arrivals\":2,\"first_n\":0}")), 2),
		lines);
	FILE *f = fopen(schedule_path, "r+");
	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	assert_int_equal(ftruncate(fileno(f), ftell(f) - 110), 0); /* the trailer, and some of the last line */
	fclose(f);
	struct arrival_reader *p = open_plan();
	assert_next(p, 0, 0, "\"r0\"", -1);
	assert_none(p, 0, 0);
	assert_int_equal(arrival_reader_cut(p)->kind, IPF_CUT);
	assert_non_null(strstr(arrival_reader_cut(p)->text, "1 good line"));
	arrival_reader_close(p);
}

int main(void)
{
	int trace = mkstemp(trace_path), schedule = mkstemp(schedule_path);
	if (trace < 0 || schedule < 0)
		return 1;
	close(trace);
	close(schedule);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_schedule_as_it_stands),
		cmocka_unit_test(test_stages_that_go_round_have_lanes),
		cmocka_unit_test(test_copies_that_stages_leave_are_closed),
		cmocka_unit_test(test_requests_go_round_if_there_is_no_trace),
		cmocka_unit_test(test_requests_that_warm_up_go_first),
		cmocka_unit_test(test_a_trace_that_does_not_fit_is_refused),
		cmocka_unit_test(test_a_cut_schedule_gives_what_is_good),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(trace_path);
	unlink(schedule_path);
	return failed;
}
