#include "unit.h"

#include "absent.h"
#include "run/capacity.h"
#include "run/concurrency_bound.h"
#include "stream/provenance.h"

#include <math.h>
#include <unistd.h>

static char schedule_path[] = "/tmp/ipf-test-crowd-s-XXXXXX", trace_path[] = "/tmp/ipf-test-crowd-t-XXXXXX";

static struct schedule_stage open_stage(const char *kind, int64_t slots, int64_t arrivals)
{
	return (struct schedule_stage){.name = (char *)kind,
	                               .kind = (char *)kind,
	                               .spec = (char *)kind,
	                               .end_ns = IPF_ABSENT,
	                               .slots = slots,
	                               .arrivals = arrivals,
	                               .rate = (double)NAN,
	                               .measured = true};
}

static struct schedule_stage closed_stage(int64_t users, int64_t arrivals, bool cycle, int64_t rampup_ns)
{
	struct schedule_stage s = open_stage("closed", users, arrivals);
	s.closed = true;
	s.cycle = cycle;
	s.rampup_ns = rampup_ns;
	s.end_ns = cycle ? 1000 : IPF_ABSENT;
	return s;
}

static void write_stream(const char *path, const char *kind, const struct schedule *s, const char *const *lines,
                         bool cut)
{
	struct ipf_error err = {0};
	struct provenance p = {.tool = "test"};
	json_t *header = stream_header(kind, &p);
	struct stream_writer *w;
	assert_true(!s || schedule_to_header(s, header) == 0);
	assert_int_equal(stream_writer_open(&w, path, header, &err), 0);
	for (size_t i = 0; lines[i]; i++) {
		struct buffer line = {0};
		buffer_text(&line, lines[i]);
		assert_int_equal(stream_writer_line(w, &line, &err), 0);
		buffer_release(&line);
	}
	if (cut) {
		stream_writer_flush(w, &err);
		stream_writer_abandon(w);
	} else {
		assert_int_equal(stream_writer_close(w, NULL, &err), 0);
	}
	json_decref(header);
}

/* ---- counts ---- */

static const char *const two_stages[] = {"{\"n\":0,\"at_ns\":0,\"req\":0,\"stage\":0}",
                                         "{\"n\":1,\"req\":1,\"stage\":0,\"after\":[0],\"wait_ns\":5}",
                                         "{\"n\":2,\"at_ns\":0,\"req\":2,\"stage\":0}",
                                         "{\"n\":3,\"at_ns\":7,\"req\":3,\"stage\":0}",
                                         "{\"n\":4,\"at_ns\":7,\"req\":4,\"stage\":0}",
                                         "{\"n\":5,\"at_ns\":7,\"req\":5,\"stage\":0}",
                                         "{\"n\":6,\"at_ns\":8,\"req\":6,\"stage\":0}",
                                         "{\"n\":7,\"req\":7,\"stage\":1}",
                                         "{\"n\":8,\"req\":8,\"stage\":1,\"wait_ns\":0}",
                                         "{\"n\":9,\"req\":9,\"stage\":1,\"wait_ns\":3}",
                                         NULL};

static void test_arrivals_are_counted(void **state)
{
	struct schedule_stage stages[] = {open_stage("warm", 1, 4), open_stage("replay", IPF_ABSENT, 7),
	                                  closed_stage(2, 3, false, 0)};
	struct schedule file = {.stages = stages + 1, .count = 2, .trace_requests = IPF_ABSENT};
	struct schedule whole = {.stages = stages, .count = 3, .trace_requests = IPF_ABSENT};
	struct concurrency_bound c[3];
	(void)state;
	for (int cut = 0; cut < 2; cut++) {
		write_stream(schedule_path, "schedule", &file, two_stages, cut);
		concurrency_bound_count(c, &file, 0, schedule_path);
		assert_true(c[0].known && c[1].known);
		assert_int_equal(c[0].roots, 6);
		assert_int_equal(c[0].at_once, 3);
		assert_false(c[0].pauses);
		assert_int_equal(c[1].roots, 3);
		assert_int_equal(c[1].at_once, 1);
		assert_true(c[1].pauses);
	}
	concurrency_bound_count(c, &whole, 1, schedule_path);
	assert_false(c[0].known);
	assert_int_equal(c[1].at_once, 3);
	assert_int_equal(c[2].roots, 3);
	/* another schedule's stages are not these */
	concurrency_bound_count(c, &whole, 0, schedule_path);
	assert_false(c[0].known || c[1].known || c[2].known);
	concurrency_bound_count(c, &file, 0, "/nonexistent");
	assert_false(c[0].known);
	/* a pipe is left to whoever reads it */
	int fds[2];
	char path[32], byte;
	assert_int_equal(pipe(fds), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	snprintf(path, sizeof path, "/dev/fd/%d", fds[0]);
	concurrency_bound_count(c, &file, 0, path);
	assert_false(c[0].known);
	assert_int_equal(read(fds[0], &byte, 1), 1);
	close(fds[0]);
	close(fds[1]);
}

static void test_who_waits_for_whom(void **state)
{
	static const char *const independent[] = {"{\"id\":\"a\",\"prompt\":\"p\"}",
	                                          "{\"id\":\"b\",\"prompt\":\"a \\\"session\\\":\"}", NULL};
	static const char *const session[] = {"{\"id\":\"a\",\"prompt\":\"p\"}",
	                                      "{\"id\":\"b\",\"prompt\":\"p\",\"session\":\"s\"}", NULL};
	static const char *const parents[] = {"{\"id\":\"a\",\"prompt\":\"p\"}",
	                                      "{\"id\":\"b\",\"prompt\":\"p\",\"parents\":[\"a\"]}", NULL};
	(void)state;
	write_stream(trace_path, "trace", NULL, independent, false);
	assert_true(concurrency_bound_independent(trace_path));
	write_stream(trace_path, "trace", NULL, independent, true);
	assert_true(concurrency_bound_independent(trace_path));
	write_stream(trace_path, "trace", NULL, session, false);
	assert_false(concurrency_bound_independent(trace_path));
	write_stream(trace_path, "trace", NULL, parents, false);
	assert_false(concurrency_bound_independent(trace_path));
	assert_false(concurrency_bound_independent("/nonexistent"));
}

/* ---- conclusions ---- */

static int64_t least(const struct schedule_stage *stages, size_t i, const struct concurrency_bound *bounds,
                     bool independent)
{
	const struct schedule s = {.stages = (struct schedule_stage *)stages, .count = i + 1};
	return concurrency_bound_least(&s, i, bounds, independent);
}

static void test_open_stages(void **state)
{
	const struct concurrency_bound unknown = {0}, seven = {.roots = 50, .at_once = 7, .known = true};
	const struct schedule_stage burst = open_stage("burst", IPF_ABSENT, 50), few = open_stage("burst", 20, 50),
								poisson = open_stage("poisson", 30, 50);
	(void)state;
	assert_int_equal(least(&burst, 0, &seven, true), 7);
	assert_int_equal(least(&poisson, 0, &seven, true), 7);
	assert_int_equal(least(&burst, 0, &unknown, true), 50);
	assert_int_equal(least(&few, 0, &unknown, true), 20);
	/* later turns of sessions come later */
	assert_int_equal(least(&burst, 0, &unknown, false), 0);
	/* chance is never sure */
	assert_int_equal(least(&poisson, 0, &unknown, true), 0);
	const struct schedule s[] = {{.stages = (struct schedule_stage *)&burst, .count = 1},
	                             {.stages = (struct schedule_stage *)&poisson, .count = 1}};
	assert_int_equal(concurrency_bound_most(&s[0], 0, &unknown), 50);
	assert_int_equal(concurrency_bound_most(&s[0], 0, &seven), IPF_ABSENT);
	assert_int_equal(concurrency_bound_most(&s[1], 0, &unknown), 30);
}

static void test_closed_stages(void **state)
{
	const struct concurrency_bound unknown[2] = {0}, busy[2] = {{.roots = 5, .at_once = 1, .known = true},
	                                                            {.roots = 60, .at_once = 1, .known = true}};
	const struct concurrency_bound thinking[2] = {{.roots = 60, .pauses = true, .known = true},
	                                              {.roots = 60, .known = true}};
	struct schedule_stage stages[2] = {closed_stage(50, 60, true, 0), closed_stage(80, 200, false, 0)};
	(void)state;
	/* all begin at once, as many as there are requests for */
	assert_int_equal(least(stages, 0, unknown, false), 50);
	assert_int_equal(least(stages, 0, busy, false), 50);
	assert_int_equal(least(stages + 1, 0, unknown, true), 80);
	assert_int_equal(least(stages + 1, 0, unknown, false), 1);
	assert_int_equal(least(stages + 1, 0, busy + 1, false), 60);
	/* the users are those of the stage before, and thirty new ones */
	assert_int_equal(least(stages, 1, unknown, true), 30);
	/* who come one after another may have had their answers: but not for long, where nobody thinks */
	stages[0].rampup_ns = 999;
	assert_int_equal(least(stages, 0, unknown, true), 0);
	assert_int_equal(least(stages, 0, thinking, true), 0);
	assert_int_equal(least(stages, 0, busy, true), 50);
	stages[0].pace_ns = 1;
	assert_int_equal(least(stages, 0, busy, true), 0);
	stages[0].pace_ns = 0;
	stages[0].rampup_ns = 1000;
	assert_int_equal(least(stages, 0, busy, true), 0);
	stages[0].rampup_ns = 0;
	stages[1] = closed_stage(80, 60, true, 0);
	assert_int_equal(least(stages, 1, thinking, true), 30);
	assert_int_equal(least(stages, 1, busy, true), 80);
	stages[1].slots = 40; /* fewer than before: some leave */
	assert_int_equal(least(stages, 1, unknown, true), 0);
}

static void test_connections(void **state)
{
	struct connection_policy c = {.kind = CONNECTION_POLICY_REUSE, .http = HTTP_1_1, .streams = 100};
	(void)state;
	assert_int_equal(connection_policy_least(&c, 1, 250), 250);
	c.http = HTTP_2;
	assert_int_equal(connection_policy_least(&c, 1, 250), 3);
	assert_int_equal(connection_policy_least(&c, 1, INT64_MAX), INT64_MAX / 100 + 1);
	/* sessions may have one of their own, but requests without one share */
	c.kind = CONNECTION_POLICY_SESSION;
	assert_int_equal(connection_policy_least(&c, 1, 250), 3);
	c.kind = CONNECTION_POLICY_FRESH;
	assert_int_equal(connection_policy_least(&c, 1, 250), 250);
	c = (struct connection_policy){.kind = CONNECTION_POLICY_POOL, .pool = 10, .streams = 100};
	assert_int_equal(connection_policy_least(&c, 1, 250), 10);
	assert_int_equal(connection_policy_least(&c, 3, 250), 30);
	assert_int_equal(connection_policy_least(&c, 30, 250), 250);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arrivals_are_counted), cmocka_unit_test(test_who_waits_for_whom),
		cmocka_unit_test(test_open_stages),          cmocka_unit_test(test_closed_stages),
		cmocka_unit_test(test_connections),
	};
	close(mkstemp(schedule_path));
	close(mkstemp(trace_path));
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(schedule_path);
	unlink(trace_path);
	return failed;
}
