/* The verdict to the digit: whole checks, with their figures and sentences. test_lib_verdict.c has the details of each
 * question. */
#include "unit.h"

#include "absent.h"
#include "verdict/verdict.h"

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

/* ---- a run ---- */

static struct schedule_stage stage_of(const char *name, int64_t arrivals)
{
	return (struct schedule_stage){.name = (char *)name,
	                               .kind = "constant",
	                               .spec = "",
	                               .slots = IPF_ABSENT,
	                               .arrivals = arrivals,
	                               .measured = true};
}

/* Due at 1 s and every 100 ms, for 500 ms; 100 tokens in 100 events. */
static struct result row_of(int64_t n, int64_t stage, int64_t lag_ns)
{
	struct result r;
	result_init(&r);
	r.n = r.req = n;
	r.stage = stage;
	r.ok = true;
	r.due_ns = r.ready_ns = S + n * 100 * MS;
	r.start_ns = r.due_ns + lag_ns;
	r.end_ns = r.start_ns + 500 * MS;
	r.lag_ns = r.client_lag_ns = lag_ns;
	r.events = r.output_tokens = r.asked_output_tokens = 100;
	r.coalesced = 0;
	return r;
}

static struct result failed_row(int64_t n, const char *kind)
{
	struct result r = row_of(n, 0, 0);
	r.ok = false;
	r.error_kind = slice_of(kind);
	return r;
}

static struct verdict *verdict_of(struct schedule_stage *stages, size_t count)
{
	struct schedule plan = {.stages = stages, .count = count};
	struct verdict *v = verdict_new();
	assert_non_null(v);
	assert_int_equal(verdict_part(v, count ? &plan : NULL), 0);
	return v;
}

static void rows(struct verdict *v, int64_t from, int64_t to, int64_t stage)
{
	for (int64_t n = from; n < to; n++) {
		struct result r = row_of(n, stage, 0);
		verdict_row(v, &r);
	}
}

static void client(struct verdict *v, const char *line)
{
	struct ipf_error err = {0};
	if (verdict_client(v, slice_of(line), &err) < 0)
		fail_msg("%s: %s", line, err.text);
}

/* Appends " name=value" for each member, those of maps in braces. */
static void add_figures(struct buffer *to, json_t *map)
{
	const char *name;
	json_t *value;
	json_object_foreach(map, name, value)
	{
		if (!strcmp(name, "name") || !strcmp(name, "status") || !strcmp(name, "detail") || !strcmp(name, "cause"))
			continue;
		buffer_format(to, " %s", name);
		if (json_is_object(value)) {
			buffer_text(to, "{");
			add_figures(to, value);
			buffer_text(to, " }");
		} else if (json_is_array(value)) {
			for (size_t i = 0; i < json_array_size(value); i++)
				buffer_format(to, "[%s]", json_string_value(json_array_get(value, i)));
		} else if (json_is_integer(value)) {
			buffer_format(to, " %lld", (long long)json_integer_value(value));
		} else {
			buffer_format(to, " %.5g", json_real_value(value));
		}
	}
}

/* "STATUS: sentences" and " | figure value …" of a check. Frees the verdict. */
static void check_is(struct verdict *v, enum verdict_question question, const char *expected)
{
	json_t *json = verdict_json(v);
	assert_non_null(json);
	json_t *check = json_array_get(json_object_get(json, "checks"), (size_t)question);
	struct buffer text = {0};
	buffer_format(&text, "%s: %s |", json_string_value(json_object_get(check, "status")),
	              json_string_value(json_object_get(check, "detail")));
	add_figures(&text, check);
	buffer_byte(&text, '\0');
	assert_string_equal(text.data, expected);
	buffer_release(&text);
	json_decref(json);
	verdict_free(v);
}

/* ---- the client ---- */

/* In whatever order the lines are, those after the first start at 1 s and before the last end at 101.4 s. */
static void lines_of_the_measured_time(void **state)
{
	struct schedule_stage one[] = {stage_of("one", 1000)};
	struct verdict *v = verdict_of(one, 1);
	(void)state;
	rows(v, 0, 1000, 0);
	client(v, "{\"t_ns\":102400000000,\"cpu\":{\"most\":0.98},\"loop_lag_ns\":{\"max\":900000000}}");
	client(v, "{\"t_ns\":101400000000,\"cpu\":{\"most\":0.30},\"loop_lag_ns\":{\"max\":3000000}}");
	client(v, "{\"t_ns\":1000000000,\"cpu\":{\"most\":0.99},\"loop_lag_ns\":{\"max\":900000000}}");
	client(
		v,
		"{\"t_ns\":1000000001,\"cpu\":{\"most\":0.10},\"loop_lag_ns\":{\"max\":1000000},\"delay_ns\":{\"p99\":2000000},"
		"\"run_queue\":{\"most\":0.02},\"fullness\":{\"record\":0.25}}");
	client(
		v,
		"{\"t_ns\":99000000000,\"run_queue\":{\"most\":0.04},\"fullness\":{\"record\":0.5},\"delay_ns\":{\"p99\":4000000}}");
	client(v, "{\"cpu\":{\"most\":0.99}}");
	client(v, "{");
	assert_int_equal(verdict_client(v, (struct slice){0}, NULL), 0);
	client(v, "{\"t_ns\":1000000000000000001,\"cpu\":{\"most\":0.99}}");
	client(v, "{\"t_ns\":2000000000,\"cpu\":{\"most\":-0.99},\"stamps\":{\"kernel\":-5,\"rejected\":1000000000001}}");
	check_is(v, VERDICT_CLIENT,
	         "OK: the sending thread used 20.0 % of a core, 30.0 % in the busiest second; the sending "
	         "thread waited for a core 3.0 % of the time, 4.0 % in the worst second; the event loop "
	         "was at most 3 ms late; in 95 % of the seconds, the client read 99 % of the data within "
	         "3.9 ms of the kernel timestamps | client_samples 6 cpu_mean 0.2 cpu_p95 0.29 cpu_max "
	         "0.3 run_queue_mean 0.03 run_queue_p95 0.039 run_queue_max 0.04 loop_lag_p95_ms 2.9 "
	         "loop_lag_max_ms 3 delay_p95_ms 3.9 delay_max_ms 4 record_queue_max 0.5 coalesced 0");
	/* no client at all, or one that says only one of both */
	v = verdict_of(one, 1);
	rows(v, 0, 1000, 0);
	check_is(v, VERDICT_CLIENT,
	         "DOUBTFUL: the client reported no samples of its CPU and loop lag | client_samples 0 "
	         "coalesced 0");
	v = verdict_of(one, 1);
	rows(v, 0, 1000, 0);
	client(v, "{\"t_ns\":2000000000,\"loop_lag_ns\":{\"max\":0}}");
	check_is(v, VERDICT_CLIENT,
	         "OK: the event loop was at most 0 s late | client_samples 1 loop_lag_p95_ms 0 "
	         "loop_lag_max_ms 0 coalesced 0");
	v = verdict_of(one, 1);
	rows(v, 0, 1000, 0);
	client(v, "{\"t_ns\":2000000000,\"cpu\":{\"most\":0}}");
	check_is(v, VERDICT_CLIENT,
	         "OK: the sending thread used 0.0 % of a core, 0.0 % in the busiest second | "
	         "client_samples 1 cpu_mean 0 cpu_p95 0 cpu_max 0 coalesced 0");
	/* before anything was started */
	v = verdict_of(one, 1);
	client(v, "{\"t_ns\":2000000000,\"cpu\":{\"most\":0.5}}");
	check_is(v, VERDICT_CLIENT, "DOUBTFUL: the client reported no samples of its CPU and loop lag | client_samples 1");
}

/* CPU time as running totals. */
static void totals_of_the_client(void **state)
{
	struct schedule_stage one[] = {stage_of("one", 1000)};
	struct verdict *v = verdict_of(one, 1);
	(void)state;
	rows(v, 0, 1000, 0);
	client(v, "{\"t_ns\":2000000000,\"cpu\":{\"send\":1}}"); /* an unknown time's */
	client(v, "{\"t_ns\":3000000000,\"cpu\":{\"send\":1.5}}");
	client(v, "{\"t_ns\":5000000000,\"cpu\":{\"send\":1.9}}");
	client(v, "{\"t_ns\":6000000000,\"cpu\":{\"send\":1.8}}"); /* it cannot fall */
	client(v, "{\"t_ns\":7000000000}");
	client(v, "{\"t_ns\":8000000000,\"cpu\":{\"send\":9}}"); /* an unknown time's */
	check_is(v, VERDICT_CLIENT,
	         "OK: the sending thread used 23.3 % of a core, 50.0 % in the busiest second | "
	         "client_samples 6 cpu_mean 0.23333 cpu_p95 0.47 cpu_max 0.5 coalesced 0");
	v = verdict_of(one, 1);
	rows(v, 0, 1000, 0);
	client(v, "{\"t_ns\":4000000000,\"cpu\":{\"send\":1}}"); /* a single line: since the start */
	check_is(v, VERDICT_CLIENT,
	         "OK: the sending thread used 25.0 % of a core, 25.0 % in the busiest second | "
	         "client_samples 1 cpu_mean 0.25 cpu_p95 0.25 cpu_max 0.25 coalesced 0");
	v = verdict_of(one, 1);
	rows(v, 0, 1000, 0);
	client(v, "{\"t_ns\":3000000000,\"cpu\":{\"send\":1}}");
	client(v, "{\"t_ns\":3000000000,\"cpu\":{\"send\":1}}"); /* no time between them */
	check_is(v, VERDICT_CLIENT,
	         "DOUBTFUL: the client reported no samples of its CPU and loop lag | client_samples 2 "
	         "coalesced 0");
	v = verdict_of(one, 1);
	struct result r = row_of(0, 0, 0); /* from 0 on */
	r.start_ns = 0;
	verdict_row(v, &r);
	client(v, "{\"t_ns\":2,\"cpu\":{\"send\":1e-9}}");
	check_is(v, VERDICT_CLIENT,
	         "OK: the sending thread used 50.0 % of a core, 50.0 % in the busiest second | "
	         "client_samples 1 cpu_mean 0.5 cpu_p95 0.5 cpu_max 0.5 coalesced 0");
}

/* Counts grow: the greatest of a part is its last; parts add up. */
static void counts_of_the_client(void **state)
{
	struct schedule_stage one[] = {stage_of("one", 1000)};
	struct schedule plan = {.stages = one, .count = 1};
	struct verdict *v = verdict_of(one, 1);
	(void)state;
	for (int part = 0; part < 2; part++) {
		if (part)
			assert_int_equal(verdict_part(v, &plan), 0);
		rows(v, 0, 1000, 0);
		client(
			v,
			"{\"t_ns\":2000000000,\"started\":500,\"starved\":3,\"stamps\":{\"kernel\":400,\"rejected\":4,\"clock_steps\":2},"
			"\"loop_lag_ns\":{\"max\":1000000}}");
		client(
			v,
			"{\"t_ns\":3000000000,\"started\":400,\"starved\":1,\"stamps\":{\"kernel\":495,\"rejected\":5,\"clock_steps\":1}}");
	}
	check_is(v, VERDICT_CLIENT,
	         "DOUBTFUL: 6 requests could not be sent: too many open files (raise ulimit -n); the "
	         "event loop was at most 1 ms late | client_samples 4 loop_lag_p95_ms 1 loop_lag_max_ms 1 "
	         "out_of_files 6 stamps_rejected 0.01 clock_steps 4 coalesced 0");
	v = verdict_of(one, 1);
	rows(v, 0, 1000, 0);
	client(v, "{\"t_ns\":2000000000,\"started\":100,\"starved\":1,\"stamps\":{\"kernel\":0,\"rejected\":0}}");
	check_is(v, VERDICT_CLIENT,
	         "DOUBTFUL: 1 request could not be sent: too many open files (raise ulimit -n); the "
	         "client reported no samples of its CPU and loop lag | client_samples 1 out_of_files 1 "
	         "coalesced 0");
	v = verdict_of(one, 1);
	rows(v, 0, 1000, 0);
	client(v, "{\"t_ns\":2000000000,\"started\":100,\"starved\":2,\"stamps\":{\"kernel\":0,\"rejected\":1}}");
	check_is(v, VERDICT_CLIENT,
	         "INVALID: 2 requests could not be sent: too many open files (raise ulimit -n); 100.0 % "
	         "of the kernel timestamps were implausible; ipf-fire's own were used instead; the client "
	         "reported no samples of its CPU and loop lag | client_samples 1 out_of_files 2 "
	         "stamps_rejected 1 clock_steps 0 coalesced 0");
}

static const struct {
	const char *members, *expected;
} client_limits[] = {
	{"\"cpu\":{\"most\":0.8}", "OK: the sending thread used 80.0 % of a core, 80.0 % in the busiest second | "
                               "client_samples 1 cpu_mean 0.8 cpu_p95 0.8 cpu_max 0.8 coalesced 0"},
	{"\"cpu\":{\"most\":0.801}",
     "DOUBTFUL: the sending thread used 80.1 % of a core, 80.1 % in the busiest second (more "
     "--threads, or shards on several machines) | client_samples 1 cpu_mean 0.801 cpu_p95 "
     "0.801 cpu_max 0.801 coalesced 0"},
	{"\"cpu\":{\"most\":0.95}",
     "DOUBTFUL: the sending thread used 95.0 % of a core, 95.0 % in the busiest second (more "
     "--threads, or shards on several machines) | client_samples 1 cpu_mean 0.95 cpu_p95 0.95 "
     "cpu_max 0.95 coalesced 0"},
	{"\"cpu\":{\"most\":0.951}",
     "INVALID: the sending thread used 95.1 % of a core, 95.1 % in the busiest second (more "
     "--threads, or shards on several machines) | client_samples 1 cpu_mean 0.951 cpu_p95 "
     "0.951 cpu_max 0.951 coalesced 0"},
	{"\"run_queue\":{\"most\":0.01}",
     "DOUBTFUL: the client reported no samples of its CPU and loop lag | client_samples 1 "
     "run_queue_mean 0.01 run_queue_p95 0.01 run_queue_max 0.01 coalesced 0"},
	{"\"run_queue\":{\"most\":0.011}",
     "DOUBTFUL: the client reported no samples of its CPU and loop lag; the sending thread "
     "waited for a core 1.1 % of the time, 1.1 % in the worst second | client_samples 1 "
     "run_queue_mean 0.011 run_queue_p95 0.011 run_queue_max 0.011 coalesced 0"},
	{"\"run_queue\":{\"most\":0.1}",
     "DOUBTFUL: the client reported no samples of its CPU and loop lag; the sending thread "
     "waited for a core 10.0 % of the time, 10.0 % in the worst second | client_samples 1 "
     "run_queue_mean 0.1 run_queue_p95 0.1 run_queue_max 0.1 coalesced 0"},
	{"\"run_queue\":{\"most\":0.101}",
     "DOUBTFUL: the sending thread waited for a core 10.1 % of the time, 10.1 % in the worst "
     "second: this machine was busy, another process used the core (stop it, or start "
     "ipf-fire on another machine); the client reported no samples of its CPU and loop lag | "
     "client_samples 1 run_queue_mean 0.101 run_queue_p95 0.101 run_queue_max 0.101 coalesced "
     "0"},
	{"\"run_queue\":{\"most\":0.5}",
     "DOUBTFUL: the sending thread waited for a core 50.0 % of the time, 50.0 % in the worst "
     "second: this machine was busy, another process used the core (stop it, or start "
     "ipf-fire on another machine); the client reported no samples of its CPU and loop lag | "
     "client_samples 1 run_queue_mean 0.5 run_queue_p95 0.5 run_queue_max 0.5 coalesced 0"},
	{"\"run_queue\":{\"most\":0.501}",
     "INVALID: the sending thread waited for a core 50.1 % of the time, 50.1 % in the worst "
     "second: this machine was busy, another process used the core (stop it, or start "
     "ipf-fire on another machine); the client reported no samples of its CPU and loop lag | "
     "client_samples 1 run_queue_mean 0.501 run_queue_p95 0.501 run_queue_max 0.501 coalesced "
     "0"},
	{"\"loop_lag_ns\":{\"max\":10000000}",
     "OK: the event loop was at most 10 ms late | client_samples 1 loop_lag_p95_ms 10 "
     "loop_lag_max_ms 10 coalesced 0"},
	{"\"loop_lag_ns\":{\"max\":11000000}",
     "DOUBTFUL: the event loop was at most 11 ms late: this machine was busy, or suspended | "
     "client_samples 1 loop_lag_p95_ms 11 loop_lag_max_ms 11 coalesced 0"},
	{"\"loop_lag_ns\":{\"max\":100000000}",
     "DOUBTFUL: the event loop was at most 100 ms late: this machine was busy, or suspended | "
     "client_samples 1 loop_lag_p95_ms 100 loop_lag_max_ms 100 coalesced 0"},
	{"\"loop_lag_ns\":{\"max\":101000000}",
     "INVALID: the event loop was at most 101 ms late: this machine was busy, or suspended | "
     "client_samples 1 loop_lag_p95_ms 101 loop_lag_max_ms 101 coalesced 0"},
	{"\"delay_ns\":{\"p99\":10000000}",
     "DOUBTFUL: the client reported no samples of its CPU and loop lag; in 95 % of the "
     "seconds, the client read 99 % of the data within 10 ms of the kernel timestamps | "
     "client_samples 1 delay_p95_ms 10 delay_max_ms 10 coalesced 0"},
	{"\"delay_ns\":{\"p99\":11000000}",
     "DOUBTFUL: in 95 % of the seconds, the client read 99 % of the data within 11 ms of the "
     "kernel timestamps (more --threads, or a less busy machine); the client reported "
     "no samples of its CPU and loop lag | client_samples 1 delay_p95_ms 11 delay_max_ms 11 "
     "coalesced 0"},
	{"\"delay_ns\":{\"p99\":100000000}",
     "DOUBTFUL: in 95 % of the seconds, the client read 99 % of the data within 100 ms of the "
     "kernel timestamps (more --threads, or a less busy machine); the client reported "
     "no samples of its CPU and loop lag | client_samples 1 delay_p95_ms 100 delay_max_ms 100 "
     "coalesced 0"},
	{"\"delay_ns\":{\"p99\":101000000}",
     "INVALID: in 95 % of the seconds, the client read 99 % of the data within 101 ms of the "
     "kernel timestamps (more --threads, or a less busy machine); the client reported "
     "no samples of its CPU and loop lag | client_samples 1 delay_p95_ms 101 delay_max_ms 101 "
     "coalesced 0"},
	{"\"fullness\":{\"record\":0.9}",
     "DOUBTFUL: the client reported no samples of its CPU and loop lag | client_samples 1 "
     "record_queue_max 0.9 coalesced 0"},
	{"\"fullness\":{\"record\":0.901}",
     "DOUBTFUL: the record queue was 90.1 % full; the client reported no samples of its CPU "
     "and loop lag | client_samples 1 record_queue_max 0.901 coalesced 0"},
	{"\"stamps\":{\"kernel\":990,\"rejected\":10}",
     "DOUBTFUL: the client reported no samples of its CPU and loop lag | client_samples 1 "
     "stamps_rejected 0.01 clock_steps 0 coalesced 0"},
	{"\"stamps\":{\"kernel\":989,\"rejected\":11}",
     "DOUBTFUL: 1.1 % of the kernel timestamps were implausible; ipf-fire's own were used "
     "instead; the client reported no samples of its CPU and loop lag | client_samples 1 "
     "stamps_rejected 0.011 clock_steps 0 coalesced 0"},
	{"\"cpu\":{\"most\":1e12}",
     "INVALID: the sending thread used 100000000000000.0 % of a core, 100000000000000.0 % in "
     "the busiest second (more --threads, or shards on several machines) | client_samples 1 "
     "cpu_mean 1e+12 cpu_p95 1e+12 cpu_max 1e+12 coalesced 0"},
};

static void limits_of_the_client(void **state)
{
	struct schedule_stage one[] = {stage_of("one", 1)};
	(void)state;
	for (size_t i = 0; i < sizeof client_limits / sizeof *client_limits; i++) {
		struct verdict *v = verdict_of(one, 1);
		char line[100];
		rows(v, 0, 1, 0);
		snprintf(line, sizeof line, "{\"t_ns\":1500000000,%s}", client_limits[i].members);
		client(v, line);
		check_is(v, VERDICT_CLIENT, client_limits[i].expected);
	}
	static const char *const bad[] = {
		"{\"t_ns\":1,\"cpu\":{\"send\":1.1e12}}", "{\"t_ns\":1,\"cpu\":{\"most\":-1.1e12}}",
		"{\"t_ns\":1,\"run_queue\":{\"most\":1.1e12}}", "{\"t_ns\":1,\"fullness\":{\"record\":1e400}}"};
	struct verdict *v = verdict_of(one, 1);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct ipf_error err = {0};
		assert_int_equal(verdict_client(v, slice_of(bad[i]), &err), -1);
		assert_non_null(strstr(err.text, "expected a number of at most 1e12"));
	}
	verdict_free(v);
}

/* ---- the load ---- */

static void loads(void **state)
{
	struct schedule_stage two[] = {stage_of("a", 100), stage_of("b", 50)};
	struct verdict *v = verdict_of(two, 2);
	(void)state;
	rows(v, 0, 100, 0);
	rows(v, 0, 50, 1);
	check_is(v, VERDICT_LOAD,
	         "OK: all 150 scheduled requests were started; the client was 0 s late at p99, 0 s at "
	         "most | scheduled 150 started 150 delivered 1 lag_ms{ p50 0 p99 0 p99.9 0 max 0 } "
	         "client_lag_ms{ p50 0 p99 0 p99.9 0 max 0 } waited_for_slot 0");
	/* the worst stage counts; slots held some back; a stage that cycles, and one that is not measured */
	struct schedule_stage four[] = {stage_of("a", 100), stage_of("b", 50), stage_of("c", 7), stage_of("d", 7)};
	four[2].cycle = true;
	four[3].measured = false;
	v = verdict_of(four, 4);
	for (int64_t n = 0; n < 98; n++) {
		struct result r = row_of(n, 0, n * MS);
		r.slot_wait_ns = n < 2 ? MS + 2 * n * MS : IPF_ABSENT;
		r.client_lag_ns = n == 5 ? IPF_ABSENT : n * MS / 10;
		verdict_row(v, &r);
	}
	rows(v, 0, 50, 1);
	rows(v, 0, 1, 2);
	rows(v, 0, 5, 3);
	check_is(v, VERDICT_LOAD,
	         "DOUBTFUL: a: only 98 of 100 scheduled requests were started; 1 request in closed loop; "
	         "the client was 9.55 ms late at p99, 9.7 ms at most; 0.7 % of the requests waited for a "
	         "slot (p99 2.98 ms): a limit of the stage, not of the client | scheduled 150 started 149 "
	         "delivered 0.9703 lag_ms{ p50 22.987 p99 95.507 p99.9 96.854 max 97 } client_lag_ms{ p50 "
	         "2.3491 p99 9.5466 p99.9 9.6842 max 9.7 } slot_wait_ms{ p50 2 p99 2.98 p99.9 2.998 max 3 } "
	         "waited_for_slot 0.006711");
	/* requests that never started, or at no time that can be */
	v = verdict_of(two, 2);
	rows(v, 0, 99, 0);
	struct result r = row_of(99, 0, 0);
	r.start_ns = 1000000000 * S + 1;
	verdict_row(v, &r);
	r = row_of(0, 1, 0);
	r.due_ns = IPF_ABSENT;
	r.end_ns = IPF_ABSENT;
	verdict_row(v, &r);
	r.stage = 1000001;
	verdict_row(v, &r);
	r.stage = -1;
	verdict_row(v, &r);
	verdict_incomplete(v, "cut");
	verdict_incomplete(v, "lost");
	check_is(v, VERDICT_LOAD,
	         "INVALID: b: only 1 of 50 scheduled requests were started; part of the run is missing: "
	         "cut; lost; the client was 0 s late at p99, 0 s at most | scheduled 150 started 100 "
	         "delivered 0.02 lag_ms{ p50 0 p99 0 p99.9 0 max 0 } client_lag_ms{ p50 0 p99 0 p99.9 0 "
	         "max 0 } waited_for_slot 0");
}

/* One request; none; without a schedule. */
static void small_loads(void **state)
{
	struct schedule_stage one[] = {stage_of("a", 1)};
	struct verdict *v;
	(void)state;
	v = verdict_of(one, 1);
	rows(v, 0, 1, 0);
	check_is(v, VERDICT_LOAD,
	         "OK: the one scheduled request was started; the client was 0 s late at p99, 0 s at most "
	         "| scheduled 1 started 1 delivered 1 lag_ms{ p50 0 p99 0 p99.9 0 max 0 } client_lag_ms{ "
	         "p50 0 p99 0 p99.9 0 max 0 } waited_for_slot 0");
	check_is(verdict_of(one, 1), VERDICT_LOAD,
	         "INVALID: no measured requests; a: only 0 of 1 scheduled requests were started | "
	         "scheduled 1 started 0 delivered 0");
	v = verdict_of(NULL, 0);
	rows(v, 0, 1, 3);
	check_is(v, VERDICT_LOAD,
	         "OK: 1 request in closed loop; the client was 0 s late at p99, 0 s at most | started 1 "
	         "lag_ms{ p50 0 p99 0 p99.9 0 max 0 } client_lag_ms{ p50 0 p99 0 p99.9 0 max 0 } "
	         "waited_for_slot 0");
	v = verdict_of(NULL, 0);
	rows(v, 0, 2, 3);
	verdict_unknown(v, VERDICT_LOAD, "nobody knows %d", 7);
	verdict_incomplete(v, "cut");
	check_is(v, VERDICT_LOAD, "DOUBTFUL: part of the run is missing: cut; nobody knows 7 |");
}

/* A run ended on purpose in its second stage. */
static void ended_on_purpose(void **state)
{
	static const char *const expected[] = {
		"OK: all 100 scheduled requests were started; the client was 0 s late at p99, 0 s at "
		"most | scheduled 100 started 100 delivered 1 lag_ms{ p50 0 p99 0 p99.9 0 max 0 } "
		"client_lag_ms{ p50 0 p99 0 p99.9 0 max 0 } waited_for_slot 0",
		"OK: 1 request until the run was ended on purpose; all 100 scheduled requests were "
		"started; the client was 0 s late at p99, 0 s at most | scheduled 100 started 101 "
		"delivered 1 lag_ms{ p50 0 p99 0 p99.9 0 max 0 } client_lag_ms{ p50 0 p99 0 p99.9 0 max "
		"0 } waited_for_slot 0",
		"OK: 2 requests until the run was ended on purpose; all 100 scheduled requests were "
		"started; the client was 0 s late at p99, 0 s at most | scheduled 100 started 102 "
		"delivered 1 lag_ms{ p50 0 p99 0 p99.9 0 max 0 } client_lag_ms{ p50 0 p99 0 p99.9 0 max "
		"0 } waited_for_slot 0"};
	struct schedule_stage three[] = {stage_of("a", 100), stage_of("b", 50), stage_of("c", 20)};
	(void)state;
	for (int64_t started = 0; started < 3; started++) {
		struct verdict *v = verdict_of(three, 3);
		rows(v, 0, 100, 0);
		rows(v, 100, 100 + started, 1);
		verdict_stopped(v, 2);
		verdict_stopped(v, 1);
		verdict_stopped(v, 2);
		check_is(v, VERDICT_LOAD, expected[started]);
	}
	struct verdict *v = verdict_of(three, 3);
	rows(v, 0, 100, 0);
	verdict_stopped(v, 1);
	check_is(v, VERDICT_SAMPLES,
	         "DOUBTFUL: 100 responses are enough for p90 but not for p99, which needs 459 | samples "
	         "100 needed_p90 44 needed_p99 459 samples_least 100");
}

/* Starts taking 10 s and more for requests due in 10 s: the time is at least a second. */
static const struct {
	int64_t due_ns, late_ns; /* the last of 101 */
	int waited;
	const char *expected;
} pace_cases[] = {
	{10 * S, 0, 0,
     "OK: all 101 scheduled requests were started | scheduled 101 started 101 delivered 1 "
     "lag_ms{ p50 0 p99 0 p99.9 0 max 0 } slot_wait_ms{ p50 1 p99 1 p99.9 1 max 1 } "
     "waited_for_slot 0"},
	{10 * S, 100 * MS, 0,
     "OK: all 101 scheduled requests were started | scheduled 101 started 101 delivered "
     "0.9901 lag_ms{ p50 49.971 p99 99.025 p99.9 99.902 max 100 } slot_wait_ms{ p50 1 p99 1 "
     "p99.9 1 max 1 } waited_for_slot 0"},
	{10 * S, 102 * MS, 0,
     "DOUBTFUL: a: started at 99.0 % of the scheduled pace; all 101 scheduled requests were "
     "started | scheduled 101 started 101 delivered 0.9899 lag_ms{ p50 51.02 p99 100.99 p99.9 "
     "101.9 max 102 } slot_wait_ms{ p50 1 p99 1 p99.9 1 max 1 } waited_for_slot 0"},
	{10 * S, 526 * MS, 0,
     "DOUBTFUL: a: started at 95.0 % of the scheduled pace; all 101 scheduled requests were "
     "started | scheduled 101 started 101 delivered 0.95003 lag_ms{ p50 263.06 p99 520.88 "
     "p99.9 525.49 max 526 } slot_wait_ms{ p50 1 p99 1 p99.9 1 max 1 } waited_for_slot 0"},
	{10 * S, 527 * MS, 0,
     "INVALID: a: started at 95.0 % of the scheduled pace; all 101 scheduled requests were "
     "started | scheduled 101 started 101 delivered 0.94994 lag_ms{ p50 263.59 p99 521.93 "
     "p99.9 526.49 max 527 } slot_wait_ms{ p50 1 p99 1 p99.9 1 max 1 } waited_for_slot 0"},
	{10 * S, 527 * MS, 1,
     "INVALID: a: started at 95.0 % of the scheduled pace; all 101 scheduled requests were "
     "started; 1.0 % of the requests waited for a slot (p99 1 ms): a limit of the stage, not "
     "of the client | scheduled 101 started 101 delivered 0.94994 lag_ms{ p50 263.59 p99 "
     "521.93 p99.9 526.49 max 527 } slot_wait_ms{ p50 1 p99 1 p99.9 1 max 1 } waited_for_slot "
     "0.009901"},
	{10 * S, 527 * MS, 2,
     "DOUBTFUL: a: started at 95.0 % of the scheduled pace, held back by its slots; 2.0 % of "
     "the requests waited for a slot (p99 1 ms): a limit of the stage, not of the client; all "
     "101 scheduled requests were started | scheduled 101 started 101 delivered 0.94994 "
     "lag_ms{ p50 263.59 p99 521.93 p99.9 526.49 max 527 } slot_wait_ms{ p50 1 p99 1 p99.9 1 "
     "max 1 } waited_for_slot 0.019802"},
	{0, 50 * MS, 0,
     "DOUBTFUL: a: started at 95.2 % of the scheduled pace; all 101 scheduled requests were "
     "started | scheduled 101 started 101 delivered 0.95238 lag_ms{ p50 24.986 p99 49.512 "
     "p99.9 49.951 max 50 } slot_wait_ms{ p50 1 p99 1 p99.9 1 max 1 } waited_for_slot 0"},
	{500 * MS, 50 * MS, 0,
     "DOUBTFUL: a: started at 95.2 % of the scheduled pace; all 101 scheduled requests were "
     "started | scheduled 101 started 101 delivered 0.95238 lag_ms{ p50 24.986 p99 49.512 "
     "p99.9 49.951 max 50 } slot_wait_ms{ p50 1 p99 1 p99.9 1 max 1 } waited_for_slot 0"},
	{500 * MS, 60 * MS, 0,
     "INVALID: a: started at 94.3 % of the scheduled pace; all 101 scheduled requests were "
     "started | scheduled 101 started 101 delivered 0.9434 lag_ms{ p50 29.999 p99 59.408 "
     "p99.9 59.941 max 60 } slot_wait_ms{ p50 1 p99 1 p99.9 1 max 1 } waited_for_slot 0"},
};

static void paces(void **state)
{
	struct schedule_stage one[] = {stage_of("a", 101)};
	(void)state;
	for (size_t i = 0; i < sizeof pace_cases / sizeof *pace_cases; i++) {
		struct verdict *v = verdict_of(one, 1);
		for (int64_t n = 0; n < 101; n++) {
			struct result r = row_of(n, 0, 0);
			r.due_ns = S + n * pace_cases[i].due_ns / 100;
			r.start_ns = r.due_ns + n * pace_cases[i].late_ns / 100;
			r.client_lag_ns = IPF_ABSENT;
			r.slot_wait_ns = n < pace_cases[i].waited ? MS + 1 : MS;
			verdict_row(v, &r);
		}
		check_is(v, VERDICT_LOAD, pace_cases[i].expected);
	}
}

/* Repeats add their spans, shards span all of them. */
static void paces_of_parts(void **state)
{
	static const char *const expected[] = {
		"INVALID: a: started at 40.0 % of the scheduled pace; all 22 scheduled requests were "
		"started; the client was 0 s late at p99, 0 s at most | scheduled 22 started 22 "
		"delivered 0.4 lag_ms{ p50 650.12 p99 1958.1 p99.9 1995.8 max 2000 } client_lag_ms{ p50 "
		"0 p99 0 p99.9 0 max 0 } waited_for_slot 0",
		"INVALID: a: started at 39.4 % of the scheduled pace; all 22 scheduled requests were "
		"started; the client was 0 s late at p99, 0 s at most | scheduled 22 started 22 "
		"delivered 0.39394 lag_ms{ p50 650.12 p99 1958.1 p99.9 1995.8 max 2000 } client_lag_ms{ "
		"p50 0 p99 0 p99.9 0 max 0 } waited_for_slot 0"};
	struct schedule_stage one[] = {stage_of("a", 11)};
	struct schedule plan = {.stages = one, .count = 1};
	(void)state;
	for (int shards = 0; shards < 2; shards++) {
		struct verdict *v = verdict_new();
		if (shards)
			verdict_shards(v);
		one[0].all_arrivals = shards ? 22 : 0;
		plan.shards = shards ? 2 : 0;
		for (int64_t part = 0; part < 2; part++) {
			assert_int_equal(verdict_part(v, &plan), 0);
			for (int64_t n = 0; n < 11; n++) {
				struct result r = row_of(n, 0, 0);
				r.due_ns += 300 * MS * part;
				r.start_ns = r.due_ns + n * 100 * MS * (part + 1);
				r.client_lag_ns = 0;
				verdict_row(v, &r);
			}
		}
		check_is(v, VERDICT_LOAD, expected[shards]);
	}
}

static void clocks_of_shards(void **state)
{
	static const int64_t cases[][3] = {{IPF_ABSENT, 5, 1},        {-S, S, S},
	                                   {-S - 1, S + 1, S},        {S / 2, 3 * S / 2, S},
	                                   {S / 2, 3 * S / 2 + 2, S}, {-3 * S, -S, S}};
	static const char *const expected[] = {
		"OK: 1 request in closed loop; the client was 0 s late at p99, 0 s at most | started 1 "
		"lag_ms{ p50 0 p99 0 p99.9 0 max 0 } client_lag_ms{ p50 0 p99 0 p99.9 0 max 0 } "
		"waited_for_slot 0",
		"OK: 1 request in closed loop; the client was 0 s late at p99, 0 s at most | started 1 "
		"lag_ms{ p50 0 p99 0 p99.9 0 max 0 } client_lag_ms{ p50 0 p99 0 p99.9 0 max 0 } "
		"waited_for_slot 0",
		"DOUBTFUL: the clocks of two shards are 0 s apart (to within 1 s): their windows do not "
		"belong together; 1 request in closed loop; the client was 0 s late at p99, 0 s at most "
		"| started 1 lag_ms{ p50 0 p99 0 p99.9 0 max 0 } client_lag_ms{ p50 0 p99 0 p99.9 0 max "
		"0 } waited_for_slot 0",
		"OK: 1 request in closed loop; the client was 0 s late at p99, 0 s at most | started 1 "
		"lag_ms{ p50 0 p99 0 p99.9 0 max 0 } client_lag_ms{ p50 0 p99 0 p99.9 0 max 0 } "
		"waited_for_slot 0",
		"DOUBTFUL: the clocks of two shards are 1 s apart (to within 500 ms): their windows do "
		"not belong together; 1 request in closed loop; the client was 0 s late at p99, 0 s at "
		"most | started 1 lag_ms{ p50 0 p99 0 p99.9 0 max 0 } client_lag_ms{ p50 0 p99 0 p99.9 0 "
		"max 0 } waited_for_slot 0",
		"DOUBTFUL: the clocks of two shards are 2 s apart (to within 1 s): their windows do not "
		"belong together; 1 request in closed loop; the client was 0 s late at p99, 0 s at most "
		"| started 1 lag_ms{ p50 0 p99 0 p99.9 0 max 0 } client_lag_ms{ p50 0 p99 0 p99.9 0 max "
		"0 } waited_for_slot 0"};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct verdict *v = verdict_of(NULL, 0);
		rows(v, 0, 1, 0);
		verdict_clocks(v, cases[i][0], cases[i][1], cases[i][2]);
		check_is(v, VERDICT_LOAD, expected[i]);
	}
}

/* ---- the answers ---- */

static void answers(void **state)
{
	struct schedule_stage one[] = {stage_of("a", 1000)};
	struct verdict *v = verdict_of(one, 1);
	(void)state;
	check_is(v, VERDICT_SERVER, "INVALID: no requests were sent | requests 0 failed 0 errors{ }");
	/* one of each kind, two of some */
	v = verdict_of(one, 1);
	rows(v, 0, 80, 0);
	for (int64_t i = 0; i < VERDICT_KINDS + 3; i++) {
		char kind[40];
		snprintf(kind, sizeof kind, "\"%s\"", verdict_kinds[i % VERDICT_KINDS]);
		struct result r = failed_row(80 + i, kind);
		r.stale = i == 3;
		verdict_row(v, &r);
	}
	check_is(v, VERDICT_SERVER,
	         "INVALID: 14 of 94 requests failed (14.9 %): 2 connect, 2 tls, 2 timeout, 1 reset, 1 "
	         "http-status, 1 in-band, 1 cut, 1 malformed, 1 cancelled, 1 too-large, 1 other; the "
	         "client cancelled 1.1 % of the requests at the end of the run; the client disconnected "
	         "from 1 more request on purpose; 1 reset on kept-alive connections closed "
	         "by the server (ipf-fire --connections fresh avoids them); outputs had 100.0 % of the requested "
	         "tokens | requests 96 failed 14 errors{ connect 2 tls 2 timeout 2 reset 1 http-status 1 "
	         "in-band 1 cut 1 malformed 1 cancelled 1 too-large 1 other 1 } hung_up 1 error_share "
	         "0.12766 stale_resets 1 asked_output_tokens 8000 output_tokens 8000 output_share 1 "
	         "exactly_as_asked 1");
}

/* Lengths, empty answers, ends, single events, streams that were not. */
static void odd_answers(void **state)
{
	struct schedule_stage one[] = {stage_of("a", 1000)};
	struct verdict *v = verdict_of(one, 1);
	(void)state;
	for (int64_t n = 0; n < 20; n++) {
		struct result r = row_of(n, 0, 0);
		r.output_tokens = n < 10 ? 80 : 100;
		r.asked_output_tokens = n == 19 ? 1000000000001 : 100;
		r.events = n == 0 ? 0 : n < 3 ? 1 : 100;
		r.coalesced = n == 5 ? 7 : n == 6 ? IPF_ABSENT : 0;
		r.after_end = n == 7 ? 2 : n == 8 ? 0 : IPF_ABSENT;
		r.tokens_source = slice_of(n == 2 ? "\"events\"" : "\"usage\"");
		r.not_streamed = n == 9 ? slice_of("\"ignored\"") : n == 10 ? slice_of("\"not-asked\"") : (struct slice){0};
		r.asked_input_tokens = 1000;
		r.input_tokens_usage = n == 3 ? 0 : n == 4 ? IPF_ABSENT : 1300;
		verdict_row(v, &r);
	}
	json_t *found = json_pack("[{s:s,s:b},{s:s,s:b},{s:b}]", "detail", "a proxy waits", "doubt", 1, "detail", "none",
	                          "doubt", 0, "doubt", 1);
	assert_int_equal(verdict_transport(v, found), 0);
	json_decref(found);
	check_is(v, VERDICT_SERVER,
	         "DOUBTFUL: a proxy waits; the content of 1 response (5.0 %) went on after the end mark; "
	         "1 response (5.0 %) is complete, but empty; streaming was requested, but 1 response (5.0 "
	         "%) came as a whole and has no TTFT; 5.9 % of the streamed responses of more than 8 "
	         "tokens came as a single event: their TTFT is the time of the whole response; outputs "
	         "had 89.5 % of the requested tokens: they ended by themselves (ipf-fire --exact-output "
	         "asks for all); prompts had 130.0 % of the tokens in the trace: its counts are not those "
	         "of the server's tokenizer (ipf-prep -t names it); no errors in 20 requests | requests "
	         "20 failed 0 errors{ } error_share 0 stale_resets 0 after_end 1 empty 1 stream_ignored 1 "
	         "single_event 0.058824 asked_output_tokens 1900 output_tokens 1700 output_share 0.89474 "
	         "exactly_as_asked 0.47368 input_share 1.3");
	check_is(verdict_of(one, 1), VERDICT_SERVER, "INVALID: no requests were sent | requests 0 failed 0 errors{ }");
}

static const struct {
	const char *what;
	int64_t of; /* out of 1000 requests, or a value */
	const char *expected;
} answer_limits[] = {
	{"cancelled", 10,
     "OK: 10 of 1,000 requests failed (1.0 %): 10 cancelled | requests 1000 failed 10 errors{ "
     "cancelled 10 } error_share 0 stale_resets 0"},
	{"cancelled", 11,
     "DOUBTFUL: the client cancelled 1.1 % of the requests at the end of the run; 11 of 1,000 "
     "requests failed (1.1 %): 11 cancelled | requests 1000 failed 11 errors{ cancelled 11 } "
     "error_share 0 stale_resets 0"},
	{"stale", 1,
     "OK: 1 of 1,000 requests failed (0.1 %): 1 reset; 1 reset on kept-alive connections "
     "closed by the server (ipf-fire --connections fresh avoids them) | requests 1000 failed "
     "1 errors{ reset 1 } error_share 0 stale_resets 1"},
	{"stale", 2,
     "OK: 2 of 1,000 requests failed (0.2 %): 2 reset; 2 resets on kept-alive connections "
     "closed by the server (ipf-fire --connections fresh avoids them) | requests 1000 "
     "failed 2 errors{ reset 2 } error_share 0 stale_resets 2"},
	{"hung-up", 1,
     "OK: no errors in 999 requests; the client disconnected from 1 more request on purpose | "
     "requests 1000 failed 0 errors{ } hung_up 1 error_share 0 stale_resets 0"},
	{"hung-up", 2,
     "OK: no errors in 998 requests; the client disconnected from 2 more requests on purpose "
     "| requests 1000 failed 0 errors{ } hung_up 2 error_share 0 stale_resets 0"},
	{"after end", 1,
     "OK: no errors in 1,000 requests; the content of 1 response (0.1 %) went on after the "
     "end mark | requests 1000 failed 0 errors{ } error_share 0 stale_resets 0 after_end 1"},
	{"after end", 10,
     "OK: no errors in 1,000 requests; the content of 10 responses (1.0 %) went on after the "
     "end mark | requests 1000 failed 0 errors{ } error_share 0 stale_resets 0 after_end 10"},
	{"after end", 11,
     "DOUBTFUL: the content of 11 responses (1.1 %) went on after the end mark; no errors in "
     "1,000 requests | requests 1000 failed 0 errors{ } error_share 0 stale_resets 0 "
     "after_end 11"},
	{"empty", 10,
     "OK: no errors in 1,000 requests; 10 responses (1.0 %) are complete, but empty | "
     "requests 1000 failed 0 errors{ } error_share 0 stale_resets 0 empty 10"},
	{"empty", 11,
     "DOUBTFUL: 11 responses (1.1 %) are complete, but empty; no errors in 1,000 requests | "
     "requests 1000 failed 0 errors{ } error_share 0 stale_resets 0 empty 11"},
	{"ignored", 1,
     "OK: no errors in 1,000 requests; streaming was requested, but 1 response (0.1 %) came "
     "as a whole and has no TTFT | requests 1000 failed 0 errors{ } error_share 0 "
     "stale_resets 0 stream_ignored 1"},
	{"ignored", 10,
     "OK: no errors in 1,000 requests; streaming was requested, but 10 responses (1.0 %) came "
     "as a whole and have no TTFT | requests 1000 failed 0 errors{ } error_share 0 "
     "stale_resets 0 stream_ignored 10"},
	{"ignored", 11,
     "DOUBTFUL: streaming was requested, but 11 responses (1.1 %) came as a whole and have no "
     "TTFT; no errors in 1,000 requests | requests 1000 failed 0 errors{ } error_share 0 "
     "stale_resets 0 stream_ignored 11"},
	{"one event", 50,
     "OK: no errors in 1,000 requests | requests 1000 failed 0 errors{ } error_share 0 "
     "stale_resets 0 single_event 0.05"},
	{"one event", 51,
     "DOUBTFUL: 5.1 % of the streamed responses of more than 8 tokens came as a single event: "
     "their TTFT is the time of the whole response; no errors in 1,000 requests | requests "
     "1000 failed 0 errors{ } error_share 0 stale_resets 0 single_event 0.051"},
	{"8 tokens", 51,
     "OK: no errors in 1,000 requests | requests 1000 failed 0 errors{ } error_share 0 "
     "stale_resets 0"},
	{"output", 90,
     "OK: no errors in 1,000 requests; outputs had 90.0 % of the requested tokens | requests "
     "1000 failed 0 errors{ } error_share 0 stale_resets 0 asked_output_tokens 100000 "
     "output_tokens 90000 output_share 0.9 exactly_as_asked 0"},
	{"output", 89,
     "DOUBTFUL: outputs had 89.0 % of the requested tokens: they ended by themselves "
     "(ipf-fire --exact-output asks for all); no errors in 1,000 requests | requests 1000 "
     "failed 0 errors{ } error_share 0 stale_resets 0 asked_output_tokens 100000 "
     "output_tokens 89000 output_share 0.89 exactly_as_asked 0"},
	{"output", 110,
     "OK: no errors in 1,000 requests; outputs had 110.0 % of the requested tokens | requests "
     "1000 failed 0 errors{ } error_share 0 stale_resets 0 asked_output_tokens 100000 "
     "output_tokens 110000 output_share 1.1 exactly_as_asked 0"},
	{"output", 111,
     "DOUBTFUL: outputs had 111.0 % of the requested tokens; no errors in 1,000 requests | "
     "requests 1000 failed 0 errors{ } error_share 0 stale_resets 0 asked_output_tokens "
     "100000 output_tokens 111000 output_share 1.11 exactly_as_asked 0"},
	{"input", 1250,
     "OK: no errors in 1,000 requests | requests 1000 failed 0 errors{ } error_share 0 "
     "stale_resets 0 input_share 1.25"},
	{"input", 1251,
     "DOUBTFUL: prompts had 125.1 % of the tokens in the trace: its counts are not those of "
     "the server's tokenizer (ipf-prep -t names it); no errors in 1,000 requests | requests "
     "1000 failed 0 errors{ } error_share 0 stale_resets 0 input_share 1.251"},
	{"input", 749,
     "DOUBTFUL: prompts had 74.9 % of the tokens in the trace: its counts are not those of "
     "the server's tokenizer (ipf-prep -t names it); no errors in 1,000 requests | requests "
     "1000 failed 0 errors{ } error_share 0 stale_resets 0 input_share 0.749"},
	{"short input", 164,
     "OK: no errors in 1,000 requests | requests 1000 failed 0 errors{ } error_share 0 "
     "stale_resets 0 input_share 1.64"},
	{"short input", 165,
     "DOUBTFUL: prompts had 165.0 % of the tokens in the trace: its counts are not those of "
     "the server's tokenizer (ipf-prep -t names it); no errors in 1,000 requests | requests "
     "1000 failed 0 errors{ } error_share 0 stale_resets 0 input_share 1.65"},
	{"no input", 70,
     "OK: no errors in 1,000 requests | requests 1000 failed 0 errors{ } error_share 0 "
     "stale_resets 0"},
	{"no output", 5,
     "OK: no errors in 1,000 requests | requests 1000 failed 0 errors{ } error_share 0 "
     "stale_resets 0"},
};

static void limits_of_answers(void **state)
{
	struct schedule_stage one[] = {stage_of("a", 1000)};
	(void)state;
	for (size_t i = 0; i < sizeof answer_limits / sizeof *answer_limits; i++) {
		struct verdict *v = verdict_of(one, 1);
		const char *what = answer_limits[i].what;
		for (int64_t n = 0; n < 1000; n++) {
			struct result r = row_of(n, 0, 0);
			r.asked_output_tokens = IPF_ABSENT;
			r.tokens_source = slice_of("\"usage\"");
			const bool this = n < answer_limits[i].of;
			if (this && (!strcmp(what, "cancelled") || !strcmp(what, "hung-up") || !strcmp(what, "stale"))) {
				r.ok = false;
				r.stale = !strcmp(what, "stale");
				r.error_kind = slice_of(*what == 'c' ? "\"cancelled\"" : *what == 's' ? "\"reset\"" : "\"hung-up\"");
			} else if (this && !strcmp(what, "after end")) {
				r.after_end = 1;
			} else if (this && !strcmp(what, "empty")) {
				r.events = 0;
			} else if (this && !strcmp(what, "ignored")) {
				r.not_streamed = slice_of("\"ignored\"");
			} else if (!strcmp(what, "one event") || !strcmp(what, "8 tokens")) {
				r.events = this ? 1 : 100;
				r.output_tokens = *what == '8' && this ? 8 : 9;
			} else if (strstr(what, "output")) {
				r.asked_output_tokens = *what == 'n' ? 0 : 100;
				r.output_tokens = answer_limits[i].of;
			} else if (strstr(what, "input")) {
				r.asked_input_tokens = *what == 'n' ? 0 : *what == 's' ? 100 : 1000;
				r.input_tokens_usage = answer_limits[i].of;
			}
			verdict_row(v, &r);
		}
		check_is(v, VERDICT_SERVER, answer_limits[i].expected);
	}
}

/* ---- the samples ---- */

static void samples_of_several_stages(void **state)
{
	struct schedule_stage stages[] = {stage_of("a", 500), stage_of("b", 500), stage_of("c", 9), stage_of("d", 0),
	                                  stage_of("e", 3)};
	static const struct {
		int64_t first, second;
		const char *expected;
	} cases[] = {{500, 459,
	              "OK: 459 responses or more in each stage, enough for p99 (459 needed) | samples 959 "
	              "needed_p90 44 needed_p99 459 samples_least 459"},
	             {500, 458,
	              "DOUBTFUL: 458 responses of b are enough for p90 but not for p99, which needs 459; 1 of "
	              "2 stages have too few for p99 | samples 958 needed_p90 44 needed_p99 459 samples_least "
	              "458"},
	             {500, 44,
	              "DOUBTFUL: 44 responses of b are enough for p90 but not for p99, which needs 459; 1 of 2 "
	              "stages have too few for p99 | samples 544 needed_p90 44 needed_p99 459 samples_least 44"},
	             {500, 43,
	              "DOUBTFUL: 43 responses of b: too few even for p90, which needs 44; 1 of 2 stages have "
	              "too few for p99 | samples 543 needed_p90 44 needed_p99 459 samples_least 43"},
	             {1, 400,
	              "DOUBTFUL: 1 response of a: too few even for p90, which needs 44; 2 of 2 stages have too "
	              "few for p99 | samples 401 needed_p90 44 needed_p99 459 samples_least 1"},
	             {0, 0, "INVALID: no successful response to measure | samples 0 needed_p90 44 needed_p99 459"},
	             {0, 500,
	              "DOUBTFUL: a has no successful response; 500 responses, enough for p99 (459 needed) | "
	              "samples 500 needed_p90 44 needed_p99 459 samples_least 500 empty_stages[a]"}};
	(void)state;
	stages[4].measured = false;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct verdict *v = verdict_of(stages, 2);
		rows(v, 0, cases[i].first, 0);
		rows(v, 1000, 1000 + cases[i].second, 1);
		check_is(v, VERDICT_SAMPLES, cases[i].expected);
	}
	struct verdict *v = verdict_of(stages, 5);
	rows(v, 0, 500, 0);
	rows(v, 500, 1000, 1);
	check_is(v, VERDICT_SAMPLES,
	         "DOUBTFUL: c has no successful response; d has no requests; 500 responses or more in "
	         "each stage, enough for p99 (459 needed) | samples 1000 needed_p90 44 needed_p99 459 "
	         "samples_least 500 empty_stages[c][d]");
}

/* How far a stage that cycles got in its lines, of which the last were sent before. */
static void prompts_of_earlier_runs(void **state)
{
	static const struct {
		int64_t sent_before, ok;
		bool cycle;
		const char *expected;
	} cases[] = {{5, 500, false,
	              "OK: 500 responses, enough for p99 (459 needed) | samples 500 needed_p90 44 needed_p99 "
	              "459 samples_least 500 prompts_of_earlier_runs 5"},
	             {6, 500, false,
	              "DOUBTFUL: 6 of 500 responses are to prompts sent in earlier runs of the search: a "
	              "prefix cache makes them faster; 500 responses, enough for p99 (459 needed) | samples "
	              "500 needed_p90 44 needed_p99 459 samples_least 500 prompts_of_earlier_runs 6"},
	             {600, 500, false,
	              "DOUBTFUL: 500 of 500 responses are to prompts sent in earlier runs of the search: a "
	              "prefix cache makes them faster; 500 responses, enough for p99 (459 needed) | samples "
	              "500 needed_p90 44 needed_p99 459 samples_least 500 prompts_of_earlier_runs 500"},
	             {300, 500, true,
	              "DOUBTFUL: 300 of 500 responses are to prompts sent in earlier runs of the search: a "
	              "prefix cache makes them faster; 500 responses, enough for p99 (459 needed) | samples "
	              "500 needed_p90 44 needed_p99 459 samples_least 500 prompts_of_earlier_runs 300"},
	             {10, 500, true,
	              "DOUBTFUL: 10 of 500 responses are to prompts sent in earlier runs of the search: a "
	              "prefix cache makes them faster; 500 responses, enough for p99 (459 needed) | samples "
	              "500 needed_p90 44 needed_p99 459 samples_least 500 prompts_of_earlier_runs 10"},
	             {0, 500, true,
	              "OK: 500 responses, enough for p99 (459 needed) | samples 500 needed_p90 44 needed_p99 "
	              "459 samples_least 500"},
	             {500, 500, true,
	              "DOUBTFUL: 500 of 500 responses are to prompts sent in earlier runs of the search: a "
	              "prefix cache makes them faster; 500 responses, enough for p99 (459 needed) | samples "
	              "500 needed_p90 44 needed_p99 459 samples_least 500 prompts_of_earlier_runs 500"}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct schedule_stage one[] = {stage_of("a", 500)};
		one[0].sent_before = cases[i].sent_before;
		one[0].cycle = cases[i].cycle;
		struct verdict *v = verdict_of(one, 1);
		rows(v, 0, cases[i].ok, 0);
		check_is(v, VERDICT_SAMPLES, cases[i].expected);
	}
}

/* The same requests again: in a repeat they are no repetition, in a stage and between shards they are. */
static void prompts_sent_again(void **state)
{
	static const struct {
		int64_t again, warm; /* the first requests, again; of ipf-fire --warm */
		int parts;           /* 2: a repeat; -2: shards */
		const char *expected;
	} cases[] = {{10, 0, 1,
	              "OK: 1,000 responses, enough for p99 (459 needed) | samples 1000 needed_p90 44 "
	              "needed_p99 459 samples_least 1000 repeated_prompts 10 trace_repeated_prompts 50"},
	             {11, 0, 1,
	              "DOUBTFUL: 11 of 1,000 responses are to prompts sent before: a prefix cache "
	              "makes them faster; 51 of 5,000 prompts of the trace repeat an earlier one: a prefix "
	              "cache makes them faster; 1,000 responses, enough for p99 (459 needed) | samples 1000 "
	              "needed_p90 44 needed_p99 459 samples_least 1000 repeated_prompts 11 trace_repeated_prompts 51"},
	             {0, 50, 1,
	              "OK: 1,000 responses, enough for p99 (459 needed) | samples 1000 needed_p90 44 "
	              "needed_p99 459 samples_least 1000 trace_repeated_prompts 50"},
	             {0, 0, 2,
	              "DOUBTFUL: 51 of 5,000 prompts of the trace repeat an earlier one: a prefix cache makes "
	              "them faster; 2,000 responses, enough for p99 (459 needed) | samples 2000 needed_p90 44 "
	              "needed_p99 459 samples_least 2000 trace_repeated_prompts 51"},
	             {0, 0, -2,
	              "DOUBTFUL: 1,000 of 2,000 responses are to prompts sent before: a prefix cache "
	              "makes them faster; 2,000 responses, enough for p99 (459 needed) | samples 2000 "
	              "needed_p90 44 needed_p99 459 samples_least 2000 repeated_prompts 1000 trace_repeated_prompts 50"}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct schedule_stage one[] = {stage_of("a", 1000)};
		struct schedule plan = {
			.stages = one, .count = 1, .trace_requests = 5000, .trace_repeated_prompts = 50 + (int64_t)(i % 2)};
		struct verdict *v = verdict_new();
		plan.shards = cases[i].parts < 0 ? 2 : 0;
		for (int part = 0; part < abs(cases[i].parts); part++) {
			assert_int_equal(verdict_part(v, &plan), 0);
			rows(v, 0, 1000 - cases[i].again - cases[i].warm, 0);
			rows(v, 0, cases[i].again, 0);
			for (int64_t n = 0; n < cases[i].warm; n++) {
				struct result r = row_of(n, 0, 0);
				r.n = SCHEDULE_WARMUP_FIRST_N + n;
				verdict_row(v, &r);
			}
		}
		check_is(v, VERDICT_SAMPLES, cases[i].expected);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_of_the_measured_time),
		cmocka_unit_test(totals_of_the_client),
		cmocka_unit_test(counts_of_the_client),
		cmocka_unit_test(limits_of_the_client),
		cmocka_unit_test(loads),
		cmocka_unit_test(small_loads),
		cmocka_unit_test(ended_on_purpose),
		cmocka_unit_test(paces),
		cmocka_unit_test(paces_of_parts),
		cmocka_unit_test(clocks_of_shards),
		cmocka_unit_test(answers),
		cmocka_unit_test(odd_answers),
		cmocka_unit_test(limits_of_answers),
		cmocka_unit_test(samples_of_several_stages),
		cmocka_unit_test(prompts_of_earlier_runs),
		cmocka_unit_test(prompts_sent_again),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
