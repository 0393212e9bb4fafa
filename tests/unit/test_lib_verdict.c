/* The verdict: each question, at and on both sides of its limits. */
#include "unit.h"

#include "absent.h"
#include "verdict/declared_cache.h"
#include "verdict/verdict.h"

#include <math.h>
#include <string.h>

#define MS INT64_C(1000000)
#define S  INT64_C(1000000000)

static struct schedule_stage stages[] = {
	{.name = "warm",
     .kind = "poisson",
     .spec = "",
     .begin_ns = 0,
     .end_ns = S,
     .slots = IPF_ABSENT,
     .arrivals = 10,
     .rate = 10},
	{.name = "main",
     .kind = "poisson",
     .spec = "",
     .begin_ns = S,
     .end_ns = 101 * S,
     .slots = IPF_ABSENT,
     .arrivals = 1000,
     .rate = 10,
     .measured = true},
};
static struct schedule plan = {.stages = stages, .count = 2};

static struct result row_at(int64_t i, int64_t lag_ns)
{
	struct result r;
	result_init(&r);
	r.n = r.req = i;
	r.stage = 1;
	r.ok = true;
	r.due_ns = r.ready_ns = S + i * 100 * MS;
	r.start_ns = r.due_ns + lag_ns;
	r.end_ns = r.start_ns + 500 * MS;
	r.lag_ns = r.client_lag_ns = lag_ns;
	r.events = r.output_tokens = r.asked_output_tokens = 100;
	r.coalesced = 0;
	return r;
}

static void failed(struct result *r, const char *kind)
{
	r->ok = false;
	r->error_kind = slice_of(kind);
}

static void clients(struct verdict *v, int seconds, double cpu, int64_t lag_ns)
{
	char line[160];
	for (int i = 0; i < seconds; i++) {
		snprintf(line, sizeof line, "{\"t_ns\":%lld,\"cpu\":{\"send\":%.6f},\"loop_lag_ns\":{\"max\":%lld}}",
		         (long long)((i + 1) * S), cpu * (i + 1), (long long)lag_ns);
		assert_int_equal(verdict_client(v, slice_of(line), NULL), 0);
	}
}

static struct verdict *begin(void)
{
	struct verdict *v = verdict_new();
	assert_non_null(v);
	assert_int_equal(verdict_part(v, &plan), 0);
	return v;
}

static void good_rows(struct verdict *v, int64_t from, int64_t to)
{
	for (int64_t i = from; i < to; i++) {
		struct result r = row_at(i, MS / 10);
		verdict_row(v, &r);
	}
}

static void expect(struct verdict *v, enum verdict_question question, enum verdict_status status, const char *part)
{
	const struct verdict_finding *f = verdict_judge(v);
	assert_non_null(f);
	if (f->checks[question].status != status || !strstr(f->checks[question].detail, part))
		fail_msg("%s: %s: \"%s\" (expected %s and \"%s\")", f->checks[question].name,
		         verdict_status_name(f->checks[question].status), f->checks[question].detail,
		         verdict_status_name(status), part);
	verdict_free(v);
}

static void a_good_run_is_ok(void **state)
{
	(void)state;
	struct verdict *v = begin();
	good_rows(v, 0, 1000);
	clients(v, 101, 0.3, MS);
	const struct verdict_finding *f = verdict_judge(v);
	assert_non_null(f);
	for (int i = 0; i < VERDICT_QUESTIONS; i++)
		if (f->checks[i].status != VERDICT_OK)
			fail_msg("%s: %s", f->checks[i].name, f->checks[i].detail);
	assert_int_equal(f->status, VERDICT_OK);
	verdict_free(v);
}

static void nothing_at_all_is_invalid(void **state)
{
	(void)state;
	struct verdict *v = verdict_new();
	assert_int_equal(verdict_judge(v)->status, VERDICT_INVALID);
	verdict_free(v);
	expect(begin(), VERDICT_LOAD, VERDICT_INVALID, "no measured requests");
	expect(begin(), VERDICT_SERVER, VERDICT_INVALID, "no requests were sent");
	expect(begin(), VERDICT_SAMPLES, VERDICT_INVALID, "no successful response");
}

static void requests_of_the_warm_up_do_not_count(void **state)
{
	(void)state;
	struct verdict *v = begin();
	for (int64_t i = 0; i < 10; i++) {
		struct result r = row_at(i, 900 * MS);
		r.stage = 0;
		failed(&r, "\"timeout\"");
		verdict_row(v, &r);
	}
	good_rows(v, 0, 1000);
	expect(v, VERDICT_SERVER, VERDICT_OK, "no errors in 1,000 requests");
}

static void requests_that_never_started(void **state)
{
	(void)state;
	static const struct {
		int64_t started;
		enum verdict_status status;
	} cases[] = {{1000, VERDICT_OK},
	             {990, VERDICT_OK},
	             {989, VERDICT_DOUBTFUL},
	             {950, VERDICT_DOUBTFUL},
	             {949, VERDICT_INVALID}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct verdict *v = begin();
		good_rows(v, 0, cases[i].started);
		expect(v, VERDICT_LOAD, cases[i].status, cases[i].status == VERDICT_OK ? "late" : "main: only");
	}
}

/* Starts that spread over more time than they were due in: 1000 requests of 99.9 s. */
static void starts_that_fall_behind(void **state)
{
	(void)state;
	static const struct {
		double slower;
		bool slots;
		enum verdict_status status;
	} cases[] = {{0.005, false, VERDICT_OK},
	             {0.03, false, VERDICT_DOUBTFUL},
	             {0.2, false, VERDICT_INVALID},
	             {0.2, true, VERDICT_DOUBTFUL}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct verdict *v = begin();
		for (int64_t n = 0; n < 1000; n++) {
			int64_t late = (int64_t)((double)n * 1e8 * cases[i].slower);
			struct result r = row_at(n, late);
			r.client_lag_ns = 0;
			if (cases[i].slots && late > 0)
				r.slot_wait_ns = late;
			verdict_row(v, &r);
		}
		expect(v, VERDICT_LOAD, cases[i].status,
		       cases[i].slots                  ? "held back by its slots"
		       : cases[i].status == VERDICT_OK ? "all 1,000"
		                                       : "pace");
	}
}

/* All at once: a start of thousands within a blink is no missed pace. */
static void a_burst_is_on_time(void **state)
{
	(void)state;
	struct verdict *v = begin();
	for (int64_t i = 0; i < 1000; i++) {
		struct result r = row_at(0, i * 5000);
		r.n = i;
		verdict_row(v, &r);
	}
	expect(v, VERDICT_LOAD, VERDICT_OK, "all 1,000");
}

static void lateness_of_the_client(void **state)
{
	(void)state;
	static const struct {
		int64_t lag_ns;
		enum verdict_status status;
	} cases[] = {{9 * MS, VERDICT_OK}, {12 * MS, VERDICT_DOUBTFUL}, {120 * MS, VERDICT_INVALID}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct verdict *v = begin();
		for (int64_t n = 0; n < 1000; n++) {
			struct result r = row_at(n, n % 50 ? 0 : cases[i].lag_ns); /* one in fifty: p99 sees it, p90 does not */
			verdict_row(v, &r);
		}
		expect(v, VERDICT_LOAD, cases[i].status, "late at p99");
	}
}

static void cpu_and_loop_of_the_client(void **state)
{
	(void)state;
	static const struct {
		double cpu;
		int64_t loop_ns;
		enum verdict_status status;
	} cases[] = {{0.79, MS, VERDICT_OK},    {0.85, MS, VERDICT_DOUBTFUL},     {0.97, MS, VERDICT_INVALID},
	             {0.1, 9 * MS, VERDICT_OK}, {0.1, 15 * MS, VERDICT_DOUBTFUL}, {0.1, 150 * MS, VERDICT_INVALID}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct verdict *v = begin();
		good_rows(v, 0, 1000);
		clients(v, 101, cases[i].cpu, cases[i].loop_ns);
		expect(v, VERDICT_CLIENT, cases[i].status, "of a core");
	}
	struct verdict *v = begin();
	good_rows(v, 0, 1000);
	expect(v, VERDICT_CLIENT, VERDICT_DOUBTFUL, "no samples");
}

/* Newer clients' further figures: in one line a second, CPU 10 %, loop lag 1 ms. */
static void the_verdict_names_what_the_client_ran_out_of(void **state)
{
	(void)state;
	static const struct {
		const char *members;
		enum verdict_status status;
		const char *said;
	} cases[] = {
		{"\"cpu\":{\"send\":9,\"most\":0.3}", VERDICT_OK, "30.0 % of a core"},
		{"\"cpu\":{\"send\":0.01,\"most\":0.97}", VERDICT_INVALID, "97.0 % of a core"},
		{"\"run_queue\":{\"most\":0.05}", VERDICT_OK, "waited for a core 5.0 % of the time"},
		{"\"run_queue\":{\"most\":0.2}", VERDICT_DOUBTFUL, "waited for a core 20.0 % of the time"},
		{"\"run_queue\":{\"most\":0.6}", VERDICT_INVALID, "60.0 % in the worst second"},
		{"\"delay_ns\":{\"p99\":43000}", VERDICT_OK,
	     "in 95 % of the seconds, the client read 99 % of the data within 43 us of the kernel timestamps"},
		{"\"delay_ns\":{\"p99\":15000000}", VERDICT_DOUBTFUL, "within 15 ms"},
		{"\"delay_ns\":{\"p99\":150000000}", VERDICT_INVALID, "within 150 ms"},
		{"\"fullness\":{\"record\":0.5}", VERDICT_OK, ""},
		{"\"fullness\":{\"record\":0.9}", VERDICT_OK, ""},
		{"\"fullness\":{\"record\":0.95}", VERDICT_DOUBTFUL, "95.0 % full"},
		{"\"started\":1000,\"starved\":0", VERDICT_OK, ""},
		{"\"started\":1000,\"starved\":5", VERDICT_DOUBTFUL, "5 requests could not be sent: too many open files"},
		{"\"started\":1000,\"starved\":50", VERDICT_INVALID, "50 requests could not be sent: too many open files"},
		{"\"stamps\":{\"kernel\":1000,\"rejected\":1,\"clock_steps\":1}", VERDICT_OK, ""},
		{"\"stamps\":{\"kernel\":900,\"rejected\":100,\"clock_steps\":1}", VERDICT_DOUBTFUL,
	     "10.0 % of the kernel timestamps were implausible"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct verdict *v = begin();
		good_rows(v, 0, 1000);
		for (int s = 1; s <= 101; s++) {
			char line[240];
			snprintf(line, sizeof line, "{\"t_ns\":%lld,\"loop_lag_ns\":{\"max\":1000},%s}", (long long)(s * S),
			         cases[i].members);
			assert_int_equal(verdict_client(v, slice_of(line), NULL), 0);
		}
		expect(v, VERDICT_CLIENT, cases[i].status, cases[i].said);
	}
	struct verdict *v = begin(); /* a single second counts */
	good_rows(v, 0, 1000);
	assert_int_equal(verdict_client(v, slice_of("{\"t_ns\":5000000000,\"run_queue\":{\"most\":0.6}}"), NULL), 0);
	expect(v, VERDICT_CLIENT, VERDICT_INVALID, "waited for a core 60.0 % of the time");
}

static void lines_of_a_part(struct verdict *v, int every, const char *members)
{
	good_rows(v, 0, 1000);
	for (int s = every; s <= 101; s += every) {
		char line[240];
		snprintf(line, sizeof line, "{\"t_ns\":%lld,%s}", (long long)(s * S), members);
		assert_int_equal(verdict_client(v, slice_of(line), NULL), 0);
	}
}

/* A bad check in a part stays so after a good one. */
static void a_busy_client_in_an_earlier_part(void **state)
{
	(void)state;
	static const char *const said[] = {"97.0 % in the busiest second",
	                                   "60.0 % in the worst second",
	                                   "150 ms late",
	                                   "within 20 ms",
	                                   "95.0 % full",
	                                   "50 requests could not be sent",
	                                   "of the kernel timestamps were implausible"};
	for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
		struct verdict *v = begin();
		lines_of_a_part(
			v, 1,
			"\"cpu\":{\"most\":0.97},\"run_queue\":{\"most\":0.6},\"loop_lag_ns\":{\"max\":150000000},\"delay_ns\":{\"p99\":20000000},"
			"\"fullness\":{\"record\":0.95},\"started\":1000,\"starved\":50,\"stamps\":{\"kernel\":800,\"rejected\":200}");
		assert_int_equal(verdict_part(v, &plan), 0);
		lines_of_a_part(
			v, 1,
			"\"cpu\":{\"most\":0.1},\"run_queue\":{\"most\":0},\"loop_lag_ns\":{\"max\":1000},\"delay_ns\":{\"p99\":1000},"
			"\"fullness\":{\"record\":0},\"started\":1000,\"starved\":0,\"stamps\":{\"kernel\":1000,\"rejected\":0}");
		expect(v, VERDICT_CLIENT, VERDICT_INVALID, said[i]);
	}
}

/* A share of the time between two lines, however long that is. */
static void cpu_between_lines(void **state)
{
	(void)state;
	struct verdict *v = begin();
	good_rows(v, 0, 1000);
	for (int s = 4; s <= 100; s += 4) {
		char line[120];
		snprintf(line, sizeof line, "{\"t_ns\":%lld,\"cpu\":{\"send\":%.1f},\"loop_lag_ns\":{\"max\":1000}}",
		         (long long)(s * S), s * 0.25);
		assert_int_equal(verdict_client(v, slice_of(line), NULL), 0);
	}
	expect(v, VERDICT_CLIENT, VERDICT_OK, "25.0 % of a core");
}

/* The client's actions before the first measured request and after the last do not matter. */
static void a_busy_client_outside_the_measured_time(void **state)
{
	(void)state;
	struct verdict *v = begin();
	good_rows(v, 500, 900); /* from 51 s on */
	char line[120];
	for (int i = 0; i < 50; i++) {
		snprintf(line, sizeof line, "{\"t_ns\":%lld,\"cpu\":{\"send\":%d},\"loop_lag_ns\":{\"max\":900000000}}",
		         (long long)((i + 1) * S), i + 1);
		assert_int_equal(verdict_client(v, slice_of(line), NULL), 0);
	}
	for (int i = 50; i < 90; i++) {
		snprintf(line, sizeof line, "{\"t_ns\":%lld,\"cpu\":{\"send\":50.%02d},\"loop_lag_ns\":{\"max\":1000}}",
		         (long long)((i + 1) * S), i - 50);
		assert_int_equal(verdict_client(v, slice_of(line), NULL), 0);
	}
	expect(v, VERDICT_CLIENT, VERDICT_OK, "1.0 % of a core");
}

static void coalesced_events(void **state)
{
	(void)state;
	for (int percent = 5; percent <= 6; percent++) {
		struct verdict *v = begin();
		for (int64_t n = 0; n < 1000; n++) {
			struct result r = row_at(n, 0);
			r.coalesced = percent;
			verdict_row(v, &r);
		}
		clients(v, 101, 0.1, MS);
		expect(v, VERDICT_CLIENT, percent > 5 ? VERDICT_DOUBTFUL : VERDICT_OK,
		       percent > 5 ? "6.0 % of the content events" : "core");
	}
}

static void errors_of_the_server(void **state)
{
	(void)state;
	static const struct {
		int failed;
		const char *kind;
		bool stale;
		enum verdict_status status;
	} cases[] = {{10, "\"timeout\"", false, VERDICT_OK},
	             {11, "\"timeout\"", false, VERDICT_DOUBTFUL},
	             {50, "\"in-band\"", false, VERDICT_DOUBTFUL},
	             {51, "\"in-band\"", false, VERDICT_INVALID},
	             {90, "\"reset\"", true, VERDICT_OK},
	             {10, "\"cancelled\"", false, VERDICT_OK},
	             {90, "\"cancelled\"", false, VERDICT_DOUBTFUL},
	             {60, "\"of-tomorrow\"", false, VERDICT_INVALID}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct verdict *v = begin();
		for (int64_t n = 0; n < 1000; n++) {
			struct result r = row_at(n, 0);
			if (n < cases[i].failed) {
				failed(&r, cases[i].kind);
				r.stale = cases[i].stale;
			}
			verdict_row(v, &r);
		}
		char said[48];
		snprintf(said, sizeof said, "%d of 1,000 requests failed", cases[i].failed);
		expect(v, VERDICT_SERVER, cases[i].status, said);
	}
}

/* Half of the requests: the shares are of the others. */
static void hung_up_on_purpose(void **state)
{
	(void)state;
	for (int timeouts = 4; timeouts <= 6; timeouts++) {
		struct verdict *v = begin();
		for (int64_t n = 0; n < 1000; n++) {
			struct result r = row_at(n, 0);
			if (n < 500)
				failed(&r, "\"hung-up\"");
			else if (n < 500 + timeouts)
				failed(&r, "\"timeout\"");
			verdict_row(v, &r);
		}
		char said[64];
		snprintf(said, sizeof said, "%d of 500 requests failed (%.1f %%): %d timeout;", timeouts, timeouts / 5.0,
		         timeouts);
		expect(v, VERDICT_SERVER, timeouts > 5 ? VERDICT_DOUBTFUL : VERDICT_OK, said);
	}
	struct verdict *v = begin();
	for (int64_t n = 0; n < 1000; n++) {
		struct result r = row_at(n, 0);
		failed(&r, "\"hung-up\"");
		verdict_row(v, &r);
	}
	expect(v, VERDICT_SERVER, VERDICT_OK,
	       "no errors in 0 requests; the client disconnected from 1,000 more requests on purpose");
}

static void lengths_not_as_asked(void **state)
{
	(void)state;
	static const struct {
		int64_t got;
		enum verdict_status status;
	} cases[] = {
		{100, VERDICT_OK}, {90, VERDICT_OK}, {89, VERDICT_DOUBTFUL}, {110, VERDICT_OK}, {111, VERDICT_DOUBTFUL}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct verdict *v = begin();
		for (int64_t n = 0; n < 1000; n++) {
			struct result r = row_at(n, 0);
			r.output_tokens = cases[i].got;
			verdict_row(v, &r);
		}
		expect(v, VERDICT_SERVER, cases[i].status, "of the requested tokens");
	}
}

static void samples_enough(void **state)
{
	(void)state;
	static const struct {
		int64_t n;
		enum verdict_status status;
		const char *said;
	} cases[] = {{459, VERDICT_OK, "enough for p99"},
	             {458, VERDICT_DOUBTFUL, "not for p99"},
	             {44, VERDICT_DOUBTFUL, "not for p99"},
	             {43, VERDICT_DOUBTFUL, "too few even for p90"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct verdict *v = begin();
		good_rows(v, 0, cases[i].n);
		expect(v, VERDICT_SAMPLES, cases[i].status, cases[i].said);
	}
}

static struct verdict *begin_shared(const struct schedule *shared)
{
	struct verdict *v = verdict_new();
	assert_non_null(v);
	assert_int_equal(verdict_part(v, shared), 0);
	return v;
}

/* Among several stages, the one with the fewest is named, also if it alone has too few. */
static void samples_of_stages(void **state)
{
	(void)state;
	struct schedule_stage two[] = {stages[1], stages[1]};
	struct schedule of_two = {.stages = two, .count = 2};
	two[0].name = "first";
	two[0].begin_ns = 0;
	for (int64_t first = 458; first <= 459; first++) {
		struct verdict *v = verdict_new();
		assert_int_equal(verdict_part(v, &of_two), 0);
		for (int64_t i = 0; i < first; i++) {
			struct result r = row_at(i, MS / 10);
			r.stage = 0;
			verdict_row(v, &r);
		}
		good_rows(v, 1000, 2000);
		expect(
			v, VERDICT_SAMPLES, first < 459 ? VERDICT_DOUBTFUL : VERDICT_OK,
			first < 459
				? "458 responses of first are enough for p90 but not for p99, which needs 459; 1 of 2 stages have too few"
				: "459 responses or more in each stage");
	}
}

/* More than one in a hundred, by each of the ways in which a prompt can have been sent before. */
static void prompts_that_were_sent_before(void **state)
{
	(void)state;
	for (int64_t n = 10; n <= 11; n++) {
		const enum verdict_status status = n > 10 ? VERDICT_DOUBTFUL : VERDICT_OK;
		struct schedule_stage again[] = {stages[0], stages[1]};
		struct schedule searched = {.stages = again, .count = 2};
		again[1].sent_before = n;
		struct verdict *v = begin_shared(&searched);
		good_rows(v, 0, 1000);
		expect(v, VERDICT_SAMPLES, status, n > 10 ? "11 of 1,000 responses are to prompts sent in earlier runs" : "");
		struct schedule repeating = plan;
		repeating.trace_requests = 1000;
		repeating.trace_repeated_prompts = n;
		v = begin_shared(&repeating);
		good_rows(v, 0, 500);
		repeating.trace_repeated_prompts = 0; /* a later part saying none takes nothing back */
		assert_int_equal(verdict_part(v, &repeating), 0);
		good_rows(v, 500, 1000);
		expect(v, VERDICT_SAMPLES, status, n > 10 ? "11 of 1,000 prompts of the trace repeat" : "");
	}
}

static void one_empty_answer_and_two(void **state)
{
	(void)state;
	for (int empty = 1; empty <= 2; empty++) {
		struct verdict *v = begin();
		good_rows(v, 0, 1000 - empty);
		for (int i = 0; i < empty; i++) {
			struct result r = row_at(1000 - empty + i, MS / 10);
			r.events = r.output_tokens = 0;
			verdict_row(v, &r);
		}
		expect(v, VERDICT_SERVER, VERDICT_OK,
		       empty == 1 ? "1 response (0.1 %) is complete, but empty"
		                  : "2 responses (0.2 %) are complete, but empty");
	}
}

static void repeats_add_up_and_shards_do_not(void **state)
{
	(void)state;
	struct verdict *v = begin();
	good_rows(v, 0, 1000);
	assert_int_equal(verdict_part(v, &plan), 0);
	good_rows(v, 0, 1000);
	expect(v, VERDICT_LOAD, VERDICT_OK, "all 2,000 scheduled");
	v = begin();
	good_rows(v, 0, 400);
	assert_int_equal(verdict_part(v, &plan), 0);
	good_rows(v, 400, 1000);
	verdict_shards(v);
	expect(v, VERDICT_LOAD, VERDICT_OK, "all 1,000 scheduled");
}

/* ---- a warm cache ---- */

/* A run of prompts of 1,000 tokens, half of which a cold cache can find. */
static struct schedule shared_plan(void)
{
	struct schedule shared = plan;
	shared.trace_requests = 1000;
	shared.trace_reuse = (struct schedule_reuse){.input_tokens = 1000000, .reusable_tokens = 500000};
	return shared;
}

static void prompt_rows(struct verdict *v, int64_t from, int64_t to, int64_t input, int64_t cached)
{
	for (int64_t i = from; i < to; i++) {
		struct result r = row_at(i, MS / 10);
		r.asked_input_tokens = 1000;
		r.input_tokens_usage = r.input_tokens = input;
		r.cached_tokens = cached;
		verdict_row(v, &r);
	}
}

/* 50 % is allowed; 1 %, a block of 1.6 %, half a template of 3.2 % and 20 % of a quarter are in between. */
static void a_cache_that_found_more_than_the_trace_allows(void **state)
{
	(void)state;
	static const struct {
		int64_t cached;
		enum verdict_status status;
		const char *said;
	} cases[] = {{500, VERDICT_OK, "enough for p99"},
	             {607, VERDICT_OK, "enough for p99"},
	             {609, VERDICT_DOUBTFUL,
	              "60.9 % of the input tokens were in the server's prefix cache, the trace allows at most 50.0 %"},
	             {0, VERDICT_OK, "enough for p99"},
	             {IPF_ABSENT, VERDICT_OK, "enough for p99"}};
	const struct schedule shared = shared_plan();
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct verdict *v = begin_shared(&shared);
		prompt_rows(v, 0, 1000, 1000, cases[i].cached);
		expect(v, VERDICT_SAMPLES, cases[i].status, cases[i].said);
	}
	/* requests of ipf-fire --warm do not count */
	struct verdict *warm = begin_shared(&shared);
	prompt_rows(warm, 0, 1000, 1000, 500);
	for (int64_t i = 0; i < 1000; i++) {
		struct result r = row_at(i, 0);
		r.req = i;
		r.n = SCHEDULE_WARMUP_FIRST_N + i;
		r.input_tokens_usage = 1000;
		r.asked_input_tokens = 1000;
		r.cached_tokens = 999;
		verdict_row(warm, &r);
	}
	expect(warm, VERDICT_SAMPLES, VERDICT_OK, "enough for p99");
	struct schedule rough = shared;
	rough.trace_reuse.error_tokens = 1000;
	struct verdict *v = begin_shared(&rough);
	prompt_rows(v, 0, 1000, 1000, 610);
	expect(v, VERDICT_SAMPLES, VERDICT_OK, "enough for p99");
	v = begin_shared(&plan);
	prompt_rows(v, 0, 1000, 1000, 990);
	expect(v, VERDICT_SAMPLES, VERDICT_OK, "enough for p99");
}

/* The server's tokens are others; only some of the trace was sent; prompts were sent again; answers were the server's.
 */
static void the_verdict_knows_what_a_trace_allows(void **state)
{
	(void)state;
	const struct schedule shared = shared_plan();
	struct verdict *v = begin_shared(&shared);
	prompt_rows(v, 0, 1000, 1200, 600);
	expect(v, VERDICT_SAMPLES, VERDICT_OK, "enough for p99");
	v = begin_shared(&shared);
	prompt_rows(v, 0, 1000, 1200, 800); /* half of 200 more can be a template */
	expect(v, VERDICT_SAMPLES, VERDICT_DOUBTFUL, "66.7 % of the input tokens");
	v = begin_shared(&shared);
	prompt_rows(v, 0, 500, 1000, 990);
	expect(v, VERDICT_SAMPLES, VERDICT_OK, "enough for p99");
	v = begin_shared(&shared);
	prompt_rows(v, 0, 900, 1000, 500);
	prompt_rows(v, 0, 900, 1000, 990);
	const struct verdict_finding *f = verdict_judge(v);
	assert_non_null(strstr(f->checks[VERDICT_SAMPLES].detail, "sent before"));
	assert_null(strstr(f->checks[VERDICT_SAMPLES].detail, "prefix cache, the"));
	verdict_free(v);
	struct schedule chat = shared;
	chat.trace_reuse.answer_tokens = 200000;
	for (int live = 0; live < 2; live++) {
		v = begin_shared(&chat);
		if (live)
			verdict_live_histories(v);
		prompt_rows(v, 0, 1000, 1000, 700);
		expect(v, VERDICT_SAMPLES, live ? VERDICT_OK : VERDICT_DOUBTFUL, live ? "enough" : "allows at most 50.0 %");
	}
}

/* The answers report no hits, the servers' counters do: over 1,000 first prompts and 500 others, of which all may be
 * found, 66.7 % are allowed. */
static void the_servers_counters_of_a_cache(void **state)
{
	(void)state;
	const struct schedule shared = shared_plan();
	static const struct {
		double counters;
		bool filled;
		enum verdict_status status;
		const char *said;
	} cases[] = {
		{0.5, false, VERDICT_OK, "enough for p99"},
		{0.72, false, VERDICT_OK, "enough for p99"},
		{0.955, false, VERDICT_DOUBTFUL,
	     "95.5 % of the tokens looked up in the server's prefix cache were there, by its own counters; the trace "
	     "allows at most 66.7 %"},
		{0.955, true, VERDICT_OK, "enough for p99"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct verdict *v = begin_shared(&shared);
		prompt_rows(v, 0, 1000, 1000, IPF_ABSENT);
		for (int64_t k = 0; k < 500; k++) {
			struct result r = row_at(k, 0);
			r.req = k;
			r.n = SCHEDULE_WARMUP_FIRST_N + k;
			r.input_tokens_usage = 1000;
			verdict_row(v, &r);
		}
		verdict_cache_counters(v, cases[i].counters);
		if (cases[i].filled)
			verdict_cache_filled(v);
		expect(v, VERDICT_SAMPLES, cases[i].status, cases[i].said);
	}
}

/* All but a block of 16 of 1,000 tokens can be found. */
static void a_cache_filled_on_purpose(void **state)
{
	(void)state;
	const struct schedule shared = shared_plan();
	static const struct {
		int64_t cached;
		enum verdict_status status;
		const char *said;
	} cases[] = {{984, VERDICT_OK, "enough for p99"},
	             {493, VERDICT_OK, "enough for p99"},
	             {491, VERDICT_DOUBTFUL,
	              "only 49.1 % of the input tokens were in the server's prefix cache, which was declared warm"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct verdict *v = begin_shared(&shared);
		verdict_cache_filled(v);
		prompt_rows(v, 0, 1000, 1000, cases[i].cached);
		expect(v, VERDICT_SAMPLES, cases[i].status, cases[i].said);
	}
}

static void a_declared_cache(void **state)
{
	(void)state;
	static const struct {
		const char *header;
		enum verdict_status status;
		const char *said;
	} cases[] = {
		{"{}", VERDICT_OK, "no errors"},
		{"{\"cache\":\"cold\",\"cache_reset\":[{\"outcome\":\"verified\"}]}", VERDICT_OK, "no errors"},
		{"{\"cache\":\"cold\",\"cache_reset\":[{\"outcome\":\"verified\"},{\"outcome\":\"refuted\",\"why\":\"still there\"}]}",
	     VERDICT_INVALID, "the prefix cache was not cold before the run, as declared: still there"},
		{"{\"cache\":\"cold\",\"cache_reset\":[{\"outcome\":\"failed\",\"why\":\"status 500\"}]}", VERDICT_INVALID,
	     "as declared: status 500"},
		{"{\"cache\":\"cold\"}", VERDICT_INVALID, "was declared cold, but was not reset"},
		{"{\"cache\":\"cold\",\"cache_reset\":[{\"outcome\":\"unverified\",\"why\":\"no counts\"}]}", VERDICT_DOUBTFUL,
	     "the prefix cache may not have been cold before the run: no counts"},
		{"{\"cache\":\"as-is\",\"cache_reset\":[{\"outcome\":\"refuted\",\"why\":\"still there\"}]}", VERDICT_OK,
	     "no errors"},
		{"{\"cache\":\"warm\",\"cache_warm\":{\"requests\":9,\"failed\":2}}", VERDICT_DOUBTFUL,
	     "2 of 9 requests to fill it failed"}};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		json_t *header = json_loads(cases[i].header, 0, NULL);
		struct verdict *v = begin_shared(&plan);
		declared_cache_begin(v, header);
		prompt_rows(v, 0, 1000, 1000, IPF_ABSENT);
		expect(v, VERDICT_SERVER, cases[i].status, cases[i].said);
		json_decref(header);
	}
	json_t *end = json_loads("{\"cache_reset\":[{\"stage\":0,\"outcome\":\"failed\",\"why\":\"status 500\"}]}", 0,
	                         NULL);
	struct verdict *v = begin_shared(&plan);
	declared_cache_resets(v, end, &plan);
	prompt_rows(v, 0, 1000, 1000, IPF_ABSENT);
	expect(v, VERDICT_SERVER, VERDICT_INVALID, "not cold before stage warm, as declared: status 500");
	json_decref(end);
}

static void a_warm_cache_of_parts(void **state)
{
	(void)state;
	struct schedule shared = shared_plan();
	struct verdict *v = begin_shared(&shared);
	prompt_rows(v, 0, 1000, 1000, 500);
	assert_int_equal(verdict_part(v, &shared), 0);
	prompt_rows(v, 0, 1000, 1000, 990);
	assert_int_equal(verdict_part(v, &shared), 0);
	prompt_rows(v, 0, 1000, 1000, 500);
	expect(v, VERDICT_SAMPLES, VERDICT_DOUBTFUL, "99.0 % of the input tokens");
	shared.shards = 2;
	v = begin_shared(&shared);
	prompt_rows(v, 0, 500, 1000, 10);
	assert_int_equal(verdict_part(v, &shared), 0);
	prompt_rows(v, 500, 1000, 1000, 990);
	expect(v, VERDICT_SAMPLES, VERDICT_OK, "enough for p99");
	v = begin_shared(&shared);
	prompt_rows(v, 0, 1000, 1000, 990);
	verdict_cache_known(v, 0.5);
	expect(v, VERDICT_SAMPLES, VERDICT_OK, "enough for p99");
}

static void the_verdict_names_a_missing_part(void **state)
{
	(void)state;
	struct verdict *v = begin();
	good_rows(v, 0, 1000);
	verdict_incomplete(v, "cut after 7 lines");
	expect(v, VERDICT_LOAD, VERDICT_DOUBTFUL, "cut after 7 lines");
}

/* Without a schedule every stage counts, and has a number for a name. */
static void rows_without_a_schedule(void **state)
{
	(void)state;
	struct verdict *v = verdict_new();
	assert_int_equal(verdict_part(v, NULL), 0);
	good_rows(v, 0, 500);
	json_t *json = verdict_json(v);
	assert_non_null(json);
	assert_int_equal(json_array_size(json_object_get(json, "checks")), 4);
	json_t *load = json_array_get(json_object_get(json, "checks"), 0);
	assert_string_equal(json_string_value(json_object_get(load, "name")), "load_delivered");
	assert_int_equal(json_integer_value(json_object_get(load, "started")), 500);
	assert_null(json_object_get(load, "scheduled"));
	assert_null(json_object_get(load, "delivered"));
	json_decref(json);
	expect(v, VERDICT_SAMPLES, VERDICT_DOUBTFUL, "stage 0 has no requests");
}

static void rules_are_for_the_checks(void **state)
{
	(void)state;
	struct verdict *v = verdict_new();
	const struct verdict_finding *f = verdict_judge(v);
	int seen[VERDICT_QUESTIONS] = {0};
	const char *about;
	for (size_t i = 0; verdict_rule(i, &about); i++)
		for (int q = 0; q < VERDICT_QUESTIONS; q++)
			seen[q] += strcmp(about, f->checks[q].name) == 0;
	for (int q = 0; q < VERDICT_QUESTIONS; q++)
		assert_true(seen[q] > 0);
	verdict_free(v);
}

static void assert_same_verdict(struct verdict *a, struct verdict *b)
{
	json_t *x = verdict_json(a), *y = verdict_json(b);
	char *text = json_dumps(x, 0), *other = json_dumps(y, 0);
	assert_string_equal(text, other);
	free(text);
	free(other);
	json_decref(x);
	json_decref(y);
}

/* The lines of a part whose client becomes busier and whose starts fall behind, so every second counts. */
static void late_part(struct verdict *v, int64_t judged_every)
{
	assert_int_equal(verdict_part(v, &plan), 0);
	for (int64_t i = 0; i < 1000; i++) {
		struct result r = row_at(i, i * MS);
		r.stage += i % 97 == 0 ? 3 : 0; /* some of a stage that no schedule names */
		verdict_row(v, &r);
		if (i % 10 == 0) {
			char line[200];
			snprintf(
				line, sizeof line,
				"{\"t_ns\":%lld,\"started\":%lld,\"starved\":%lld,\"cpu\":{\"send\":%.6f},\"loop_lag_ns\":{\"max\":%lld}}",
				(long long)((i / 10 + 1) * S), (long long)i, (long long)(i / 400), (double)(i / 10 * (i / 10)) / 200,
				(long long)(i * MS / 10));
			assert_int_equal(verdict_client(v, slice_of(line), NULL), 0);
		}
		if (judged_every && i % judged_every == 0)
			assert_non_null(verdict_judge(v));
	}
}

static void judging_changes_nothing(void **state)
{
	(void)state;
	struct verdict *often = verdict_new(), *once = verdict_new();
	assert_non_null(verdict_judge(often));
	for (int part = 0; part < 3; part++) {
		late_part(often, 7);
		late_part(once, 0);
		assert_same_verdict(often, once); /* that of two parts is judged before the third */
	}
	verdict_free(often);
	verdict_free(once);
}

/* A part going on counts as if it had ended: the same answer as at the end of a run as long as that. */
static void the_middle_of_a_part_counts(void **state)
{
	(void)state;
	struct verdict *v = begin();
	for (int64_t i = 0; i < 500; i++) {
		struct result r = row_at(i, i * 100 * MS);
		verdict_row(v, &r);
	}
	clients(v, 80, 0.9, MS);
	const struct verdict_finding *f = verdict_judge(v);
	assert_non_null(f);
	assert_non_null(strstr(f->checks[VERDICT_LOAD].detail, "of the scheduled pace"));
	assert_int_equal(f->checks[VERDICT_CLIENT].status, VERDICT_DOUBTFUL);
	assert_non_null(strstr(f->checks[VERDICT_CLIENT].detail, "used 90.0 % of a core"));
	verdict_free(v);
}

/* The schedule of a later part names a stage judged before, by its number. */
static void a_stage_is_named_late(void **state)
{
	(void)state;
	struct verdict *v = verdict_new();
	struct result r = row_at(0, 0);
	failed(&r, "\"timeout\"");
	assert_int_equal(verdict_part(v, NULL), 0);
	verdict_row(v, &r);
	r.stage = 0;
	r.ok = true;
	verdict_row(v, &r);
	const struct verdict_finding *f = verdict_judge(v);
	assert_non_null(f);
	assert_non_null(strstr(f->checks[VERDICT_SAMPLES].detail, "stage 1 has no requests"));
	assert_int_equal(verdict_part(v, &plan), 0);
	expect(v, VERDICT_SAMPLES, VERDICT_DOUBTFUL, "main has no successful response");
}

/* Nothing is cut in the middle: of a sentence too long, the clauses fitting are shown. */
static void a_sentence_that_is_too_long(void **state)
{
	(void)state;
	struct verdict_check check = {.status = VERDICT_OK};
	for (int i = 0; i < 1000; i++)
		verdict_check_add(&check, i == 999 ? VERDICT_INVALID : VERDICT_OK, "clause %d is here", i);
	size_t len = strlen(check.detail);
	assert_true(len < sizeof check.detail && len > sizeof check.detail - 40);
	assert_string_equal(check.detail + len - strlen(" is here; …"), " is here; …");
	assert_int_equal(check.status, VERDICT_INVALID);
	assert_memory_equal(check.detail, "clause 999 is here; clause 0 is here; ", 38); /* the deciding reason comes
	                                                                                  * first */
	check = (struct verdict_check){.status = VERDICT_OK};
	char name[2001] = "";
	for (int i = 0; i < 1000; i++)
		strcat(name, "é");
	verdict_check_add(&check, VERDICT_OK, "%s", name);
	len = strlen(check.detail);
	assert_true(len < sizeof check.detail);
	assert_string_equal(check.detail + len - strlen("é…"), "é…");
	assert_memory_equal(check.detail, name, len - strlen("…"));
	verdict_check_add(&check, VERDICT_OK, "more");
	assert_int_equal(strlen(check.detail), len);
}

/* The clauses with the check's status come first, in their order, and are counted. */
static void deciding_clauses_come_first(void **state)
{
	(void)state;
	struct verdict_check check = {.status = VERDICT_OK};
	verdict_check_add(&check, VERDICT_OK, "a");
	assert_int_equal(check.deciding, 0);
	verdict_check_add(&check, VERDICT_DOUBTFUL, "b");
	verdict_check_add(&check, VERDICT_OK, "c");
	verdict_check_add(&check, VERDICT_DOUBTFUL, "d");
	assert_string_equal(check.detail, "b; d; a; c");
	assert_int_equal(check.deciding, strlen("b; d"));
	verdict_check_add(&check, VERDICT_INVALID, "e");
	verdict_check_add(&check, VERDICT_DOUBTFUL, "f");
	assert_string_equal(check.detail, "e; b; d; a; c; f");
	assert_int_equal(check.deciding, strlen("e"));
}

/* Neither a busy client nor clocks and a network in doubt; all else is judged as ever. */
static struct verdict *predicted_run(const json_t *findings)
{
	struct verdict *v = begin();
	verdict_predicted(v);
	for (int64_t i = 0; i < 1000; i++) {
		struct result r = row_at(i, 200 * MS);
		r.coalesced = r.events;
		verdict_row(v, &r);
	}
	assert_int_equal(verdict_transport(v, findings), 0);
	verdict_clocks(v, 10 * S, 11 * S, S);
	return v;
}

static void a_predicted_run_has_no_client(void **state)
{
	(void)state;
	json_t *findings = json_pack("[{s:s, s:b}]", "detail", "a proxy", "doubt", 1);
	expect(predicted_run(findings), VERDICT_LOAD, VERDICT_OK, "all 1,000 scheduled requests were started");
	expect(predicted_run(findings), VERDICT_CLIENT, VERDICT_NOT_APPLICABLE, "not applicable: predicted");
	expect(predicted_run(findings), VERDICT_SERVER, VERDICT_OK, "no errors");
	struct verdict *v = predicted_run(findings);
	json_t *json = verdict_json(v);
	assert_string_equal(json_string_value(json_object_get(json, "status")), "OK");
	assert_true(json_is_true(json_object_get(json, "predicted")));
	json_decref(json);
	verdict_note(v, VERDICT_CLIENT, VERDICT_DOUBTFUL, "less exact than was demanded");
	assert_int_equal(verdict_judge(v)->status, VERDICT_DOUBTFUL);
	expect(v, VERDICT_CLIENT, VERDICT_DOUBTFUL, "less exact than was demanded; not applicable");
	json_decref(findings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deciding_clauses_come_first),
		cmocka_unit_test(a_good_run_is_ok),
		cmocka_unit_test(nothing_at_all_is_invalid),
		cmocka_unit_test(requests_of_the_warm_up_do_not_count),
		cmocka_unit_test(requests_that_never_started),
		cmocka_unit_test(starts_that_fall_behind),
		cmocka_unit_test(a_burst_is_on_time),
		cmocka_unit_test(lateness_of_the_client),
		cmocka_unit_test(cpu_and_loop_of_the_client),
		cmocka_unit_test(the_verdict_names_what_the_client_ran_out_of),
		cmocka_unit_test(a_busy_client_outside_the_measured_time),
		cmocka_unit_test(a_busy_client_in_an_earlier_part),
		cmocka_unit_test(cpu_between_lines),
		cmocka_unit_test(coalesced_events),
		cmocka_unit_test(errors_of_the_server),
		cmocka_unit_test(hung_up_on_purpose),
		cmocka_unit_test(lengths_not_as_asked),
		cmocka_unit_test(samples_enough),
		cmocka_unit_test(samples_of_stages),
		cmocka_unit_test(prompts_that_were_sent_before),
		cmocka_unit_test(one_empty_answer_and_two),
		cmocka_unit_test(repeats_add_up_and_shards_do_not),
		cmocka_unit_test(a_cache_that_found_more_than_the_trace_allows),
		cmocka_unit_test(the_verdict_knows_what_a_trace_allows),
		cmocka_unit_test(the_servers_counters_of_a_cache),
		cmocka_unit_test(a_cache_filled_on_purpose),
		cmocka_unit_test(a_declared_cache),
		cmocka_unit_test(a_warm_cache_of_parts),
		cmocka_unit_test(the_verdict_names_a_missing_part),
		cmocka_unit_test(rows_without_a_schedule),
		cmocka_unit_test(rules_are_for_the_checks),
		cmocka_unit_test(judging_changes_nothing),
		cmocka_unit_test(the_middle_of_a_part_counts),
		cmocka_unit_test(a_stage_is_named_late),
		cmocka_unit_test(a_sentence_that_is_too_long),
		cmocka_unit_test(a_predicted_run_has_no_client),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
