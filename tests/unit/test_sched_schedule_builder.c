/* From a trace to a schedule and back: the parts read of a trace, and that every line of the schedule says the right
 * thing. */
#include "unit.h"

#include "absent.h"
#include "clock.h"
#include "schedule_builder.h"
#include "stream/provenance.h"
#include "stream/trace.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* ---- a trace of our own making ---------------------------------------------------------------------------------- */

struct turn {
	int session; /* -1: none */
	bool first;
	int64_t at_ns, wait_ns;
	int parents[4];      /* requests of the trace */
	size_t parent_count; /* 0: the one before, unless first */
};

static struct progress silent;
static char trace_path[64], schedule_path[64];

static int set_up(void **state)
{
	(void)state;
	snprintf(trace_path, sizeof trace_path, "test_sched_schedule_builder.%d.trace", (int)getpid());
	snprintf(schedule_path, sizeof schedule_path, "test_sched_schedule_builder.%d.sched", (int)getpid());
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(trace_path);
	unlink(schedule_path);
	return 0;
}

/* Writes body lines as they are; without a trailer where `cut`. */
static void write_trace(char *const *lines, size_t count, bool cut)
{
	struct ipf_error err = {0};
	struct stream_writer *writer;
	struct buffer line = {0};
	struct provenance from = {.tool = "test", .reproducible = true};
	json_t *header = stream_header("trace", &from);

	assert_int_equal(stream_writer_open(&writer, trace_path, header, &err), 0);
	for (size_t i = 0; i < count; i++) {
		buffer_clear(&line);
		buffer_text(&line, lines[i]);
		assert_int_equal(stream_writer_line(writer, &line, &err), 0);
	}
	if (cut) {
		assert_int_equal(stream_writer_flush(writer, &err), 0);
		stream_writer_abandon(writer);
	} else {
		assert_int_equal(stream_writer_close(writer, NULL, &err), 0);
	}
	buffer_release(&line);
	json_decref(header);
}

static void write_turns(const struct turn *turns, size_t count)
{
	char **lines = calloc(count, sizeof *lines);

	assert_non_null(lines);
	for (size_t i = 0; i < count; i++) {
		const struct turn *t = &turns[i];
		struct buffer line = {0};
		buffer_format(&line, "{\"id\":\"r%zu\",\"prompt\":\"x\"", i);
		if (t->session >= 0)
			buffer_format(&line, ",\"session\":\"s%d\"", t->session);
		if (t->at_ns != IPF_ABSENT)
			buffer_format(&line, ",\"at_ns\":%lld", (long long)t->at_ns);
		if (t->wait_ns != IPF_ABSENT)
			buffer_format(&line, ",\"wait_ns\":%lld", (long long)t->wait_ns);
		for (size_t k = 0; k < t->parent_count; k++) /* \u0072 is r: ids are compared as texts, not as bytes */
			buffer_format(&line, "%s\"%s%d\"", k ? "," : ",\"parents\":[", k % 2 ? "\\u0072" : "r", t->parents[k]);
		buffer_text(&line, t->parent_count ? "]}" : "}");
		lines[i] = line.data;
	}
	write_trace(lines, count, false);
	for (size_t i = 0; i < count; i++)
		free(lines[i]);
	free(lines);
}

static size_t random_turns(struct turn *turns, size_t most, uint64_t *seed)
{
	size_t count = 0;
	int64_t at = 0;

	for (int session = 0; count < most; session++) {
		size_t length = 1 + test_random(seed) % 6, first = count;
		bool lone = test_random(seed) % 4 == 0;
		at += (int64_t)(test_random(seed) % 1000000007);
		for (size_t k = 0; k < (lone ? 1 : length) && count < most; k++, count++) {
			struct turn *t = &turns[count];
			*t = (struct turn){
				.session = lone ? -1 : session, .first = k == 0, .at_ns = IPF_ABSENT, .wait_ns = IPF_ABSENT};
			if (k == 0 || test_random(seed) % 2)
				t->at_ns = at + (k ? (int64_t)(test_random(seed) % 5000000000) : 0);
			if (k && test_random(seed) % 2)
				t->wait_ns = (int64_t)(test_random(seed) % 3000000000);
			if (k && test_random(seed) % 3 == 0)
				for (size_t p = k < 4 ? k : 4; p > 0; p--)
					if (t->parent_count == 0 || test_random(seed) % 2)
						t->parents[t->parent_count++] = (int)(first + p - 1);
		}
	}
	return count;
}

/* ---- and a schedule for it ------------------------------------------------------------------------------------------
 */

struct made {
	struct schedule_arrival *list; /* with parents of their own */
	size_t count;
	struct schedule schedule;
	struct schedule_reader *reader;
};

static int make(const char *specs, bool with_trace, struct ipf_error *err)
{
	char text[500], *list[16];
	struct stages stages;
	struct trace_index trace = {0};
	struct schedule_builder builder = {.stages = &stages, .trace = with_trace ? &trace : NULL, .seed = 7};
	struct stream_writer *writer;
	struct provenance from = {.tool = "test", .reproducible = true};
	struct ipf_error cut = {0};
	json_t *header;
	int count = 0, status = -1;

	snprintf(text, sizeof text, "%s", specs);
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		list[count++] = word;
	if (stages_parse(&stages, list, count, NULL, err) < 0 ||
	    (with_trace && trace_index_read(&trace, trace_path, &silent, &cut, err) < 0) ||
	    schedule_builder_prepare(&builder, err) < 0)
		goto out;
	header = stream_header("schedule", &from);
	assert_int_equal(schedule_to_header(&builder.schedule, header), 0);
	assert_int_equal(stream_writer_open(&writer, schedule_path, header, err), 0);
	json_decref(header);
	assert_int_equal(schedule_builder_write(&builder, writer, &silent, err), 0);
	assert_int_equal(stream_writer_lines(writer), builder.arrivals);
	assert_int_equal(stream_writer_close(writer, NULL, err), 0);
	status = 0;
out:
	schedule_builder_release(&builder);
	trace_index_release(&trace);
	stages_release(&stages);
	return status;
}

static struct made make_and_read(const char *specs, bool with_trace)
{
	struct ipf_error err = {0};
	struct schedule_arrival a;
	struct made m = {0};
	size_t cap = 0;
	int got;

	if (make(specs, with_trace, &err) < 0)
		fail_msg("%s: %s", specs, err.text);
	assert_int_equal(schedule_reader_open(&m.reader, schedule_path, &err), 0);
	while ((got = schedule_reader_next(m.reader, &a, &err)) == 1) {
		if (m.count == cap) {
			cap = cap ? cap * 2 : 64;
			m.list = realloc(m.list, cap * sizeof *m.list);
			assert_non_null(m.list);
		}
		m.list[m.count] = a;
		if (a.after_count) {
			int64_t *after = malloc(a.after_count * sizeof *after);
			assert_non_null(after);
			memcpy(after, a.after, a.after_count * sizeof *after);
			m.list[m.count].after = after;
		}
		m.count++;
	}
	if (got != 0)
		fail_msg("%s: %s", specs, err.text);
	m.schedule = *schedule_reader_header(m.reader);
	return m;
}

static void made_free(struct made *m)
{
	for (size_t i = 0; i < m->count; i++)
		if (m->list[i].after_count)
			free((int64_t *)(uintptr_t)m->list[i].after);
	free(m->list);
	schedule_reader_close(m->reader);
}

static void assert_refused(const char *specs, bool with_trace, enum ipf_error_kind kind, const char *text)
{
	struct ipf_error err = {0};

	if (make(specs, with_trace, &err) == 0)
		fail_msg("%s was accepted", specs);
	assert_string_equal(err.text, text);
	assert_int_equal(err.kind, kind);
}

/* ---- without a trace -------------------------------------------------------------------------------------------- */

static void test_stages_follow_one_another(void **state)
{
	struct made m = make_and_read(
		"constant:rate=4,for=2s,warmup rest:for=500ms poisson:rate=100,n=50 burst:n=3,for=1s burst:n=2 "
		"closed:users=3,n=5 constant:rate=1,n=2,slots=9",
		false);
	const struct schedule_stage *s = m.schedule.stages;

	(void)state;
	assert_int_equal(m.schedule.count, 7);
	assert_int_equal(m.schedule.trace_requests, IPF_ABSENT);
	assert_string_equal(m.schedule.trace_sha256, "");
	assert_int_equal(s[0].arrivals, 8);
	assert_false(s[0].measured);
	assert_int_equal(s[0].end_ns, 2 * NS_PER_S);
	assert_int_equal(s[1].arrivals, 0);
	assert_false(s[1].measured);
	assert_int_equal(s[1].end_ns, 2500 * NS_PER_MS);
	assert_int_equal(s[2].arrivals, 50);
	assert_true(s[2].measured && s[2].rate == 100);
	assert_true(s[2].end_ns > m.list[57].at_ns); /* one gap after the last */
	assert_int_equal(s[3].begin_ns, s[2].end_ns);
	assert_int_equal(s[3].end_ns, s[3].begin_ns + NS_PER_S);
	assert_true(s[3].rate == 3);
	/* Bounded by their count: the schedule's time stands still. */
	assert_int_equal(s[4].end_ns, IPF_ABSENT);
	assert_int_equal(s[5].begin_ns, s[4].begin_ns);
	assert_int_equal(s[5].end_ns, IPF_ABSENT);
	assert_true(s[5].closed && !s[5].cycle && s[5].slots == 3 && isnan(s[5].rate));
	assert_int_equal(s[6].begin_ns, s[3].end_ns);
	assert_int_equal(s[6].end_ns, s[6].begin_ns + 2 * NS_PER_S);
	assert_int_equal(s[6].slots, 9);
	assert_int_equal(m.count, 8 + 50 + 3 + 2 + 5 + 2);
	for (size_t i = 0; i < m.count; i++) {
		const struct schedule_arrival *a = &m.list[i];
		assert_int_equal(a->n, i);
		assert_int_equal(a->req, i);
		assert_int_equal(a->after_count, 0);
		assert_true(a->n >= s[a->stage].first_n && a->n < s[a->stage].first_n + s[a->stage].arrivals);
		if (a->stage == 5)
			assert_int_equal(a->at_ns, IPF_ABSENT);
		else
			assert_true(a->at_ns >= s[a->stage].begin_ns &&
			            (s[a->stage].end_ns == IPF_ABSENT || a->at_ns < s[a->stage].end_ns));
	}
	for (size_t i = 58; i < 63; i++)
		assert_int_equal(m.list[i].at_ns, s[3].begin_ns + (i < 61 ? 0 : NS_PER_S));
	made_free(&m);
}

static void test_stages_that_need_a_trace_say_so(void **state)
{
	(void)state;
	assert_refused("poisson:rate=5", false, IPF_USAGE,
	               "stage 1 (poisson): for=TIME or n=COUNT is required, or -t TRACE to take the whole trace once");
	assert_refused("burst", false, IPF_USAGE,
	               "stage 1 (burst): n=COUNT is required, or -t TRACE to take the whole trace once");
	assert_refused("closed:users=2", false, IPF_USAGE,
	               "stage 1 (closed): n=COUNT is required, or -t TRACE to take the whole trace once");
	assert_refused("closed:users=2,for=1m", false, IPF_USAGE,
	               "stage 1 (closed): for: a closed loop with for= requires a trace: -t TRACE");
	assert_refused("replay", false, IPF_USAGE, "stage 1 (replay): a replay requires a trace: -t TRACE");
}

static void test_excessive_stages_are_refused_at_once(void **state)
{
	(void)state;
	assert_refused("constant:rate=1/d,n=1M", false, IPF_USAGE,
	               "stage 1 (constant): n: the stage is longer than 146 years");
	assert_refused("poisson:rate=1G,for=10d", false, IPF_USAGE,
	               "stage 1 (poisson): for: expected at most 1e+09 arrivals in a schedule, got 8.64e+14");
	assert_refused("burst:n=100G", false, IPF_USAGE,
	               "stage 1 (burst): n: expected at most 1e+09 arrivals in a schedule, got 1e+11");
	assert_refused("rest:for=26000d rest:for=26000d rest:for=26000d", false, IPF_USAGE,
	               "stage 3 (rest): for: the stage ends more than 146 years after the beginning");
}

/* ---- with one --------------------------------------------------------------------------------------------------- */

/* The lines of one stage against the trace: whole sessions from `req` on, wrapping. */
static void check_stage(const struct made *m, int64_t stage, const struct turn *turns, size_t count, int64_t *req,
                        bool closed)
{
	const struct schedule_stage *s = &m->schedule.stages[stage];
	int64_t last_at = 0;
	size_t line = 0;

	while (line < m->count && m->list[line].stage != stage)
		line++;
	for (int64_t k = 0; k < s->arrivals; k++, line++) {
		const struct schedule_arrival *a = &m->list[line];
		const struct turn *t;
		int64_t head;
		assert_int_equal(a->stage, stage);
		assert_int_equal(a->n, s->first_n + k);
		assert_int_equal(a->req, *req);
		t = &turns[*req];
		*req = (*req + 1) % (int64_t)count;
		if (t->first) {
			assert_int_equal(a->after_count, 0);
			assert_int_equal(a->wait_ns, IPF_ABSENT);
			if (closed)
				assert_int_equal(a->at_ns, IPF_ABSENT);
			else
				assert_true(a->at_ns >= last_at);
			last_at = closed ? 0 : a->at_ns;
			continue;
		}
		assert_int_equal(a->at_ns, IPF_ABSENT);
		assert_int_equal(a->wait_ns, t->wait_ns);
		assert_int_equal(a->after_count, t->parent_count ? t->parent_count : 1);
		for (size_t p = 0; p < a->after_count; p++) {
			int64_t parent = t->parent_count ? t->parents[p] : a->req - 1;
			assert_int_equal(a->after[p], a->n - (a->req - parent));
			/* the same instance: nothing between the two but their session */
			for (head = (int64_t)line; !turns[m->list[head].req].first; head--)
				;
			assert_true(a->after[p] >= m->list[head].n);
		}
	}
	assert_true(line == m->count || m->list[line].stage > stage);
}

static void test_sessions_become_followers(void **state)
{
	enum { MOST = 200 };
	uint64_t seed = test_seed(__func__);
	struct turn turns[MOST];

	(void)state;
	for (int round = 0; round < 40; round++) {
		size_t count = random_turns(turns, 1 + test_random(&seed) % MOST, &seed);
		int64_t req = 0;
		struct made m;
		write_turns(turns, count);
		m = make_and_read(
			"poisson:rate=10,n=37 burst closed:users=4,n=50 constant:rate=100,for=1s closed:users=3,for=1m gamma:rate=9,cv=2 "
			"burst:n=1",
			true);
		assert_int_equal(m.schedule.trace_requests, count);
		assert_int_equal(m.schedule.stages[1].arrivals, count);
		assert_int_equal(m.schedule.stages[5].arrivals, count);
		assert_true(m.schedule.stages[4].cycle && m.schedule.stages[4].arrivals == (int64_t)count);
		assert_int_equal(m.schedule.stages[5].first_n, m.schedule.stages[4].first_n + BUILDER_CYCLE_NUMBERS);
		for (int64_t i = 0; i < 7; i++)
			check_stage(&m, i, turns, count, &req, m.schedule.stages[i].closed);
		made_free(&m);
	}
}

/* round(ns / speed), halves up */
static int64_t at_speed(int64_t ns, int num, int den)
{
	return (int64_t)(((__int128)ns * den * 2 + num) / (2 * num));
}

static void test_replay_sends_each_at_its_time(void **state)
{
	enum { MOST = 300 };
	uint64_t seed = test_seed(__func__);
	struct turn turns[MOST];

	(void)state;
	for (int round = 0; round < 30; round++) {
		size_t count = random_turns(turns, 50 + test_random(&seed) % (MOST - 50), &seed), line = 0;
		int64_t zero = (int64_t)(test_random(&seed) % 5000000000), end = zero + 20 * NS_PER_S;
		char specs[200];
		struct made m;
		bool inside = false;
		write_turns(turns, count);
		/* A poisson stage before it does not move the slice. */
		snprintf(specs, sizeof specs, "constant:rate=10,n=20 replay:speed=1.25,from=%lldns,to=%lldns", (long long)zero,
		         (long long)end);
		m = make_and_read(specs, true);
		while (m.list[line].stage == 0)
			line++;
		for (size_t i = 0; i < count; i++) {
			const struct turn *t = &turns[i];
			const struct schedule_arrival *a = &m.list[line];
			if (t->first)
				inside = t->at_ns >= zero && t->at_ns < end;
			if (!inside)
				continue;
			assert_true(line++ < m.count);
			assert_int_equal(a->req, i);
			assert_int_equal(a->after_count, t->first ? 0 : t->parent_count ? t->parent_count : 1);
			if (t->at_ns == IPF_ABSENT)
				assert_int_equal(a->at_ns, IPF_ABSENT);
			else
				assert_int_equal(a->at_ns, m.schedule.stages[1].begin_ns + at_speed(t->at_ns - zero, 5, 4));
			if (t->wait_ns == IPF_ABSENT)
				assert_int_equal(a->wait_ns, IPF_ABSENT);
			else
				assert_int_equal(a->wait_ns, at_speed(t->wait_ns, 5, 4));
		}
		assert_int_equal(line, m.count);
		assert_int_equal(m.schedule.stages[1].end_ns, m.schedule.stages[1].begin_ns + 16 * NS_PER_S);
		made_free(&m);
	}
}

static void write_arrivals(const int64_t *at_ns, size_t count)
{
	struct turn turns[16];

	for (size_t i = 0; i < count; i++)
		turns[i] = (struct turn){.session = -1, .first = true, .at_ns = at_ns[i], .wait_ns = IPF_ABSENT};
	write_turns(turns, count);
}

static void assert_replay(const char *spec, size_t count, int64_t end_ns)
{
	struct made m = make_and_read(spec, true);

	assert_int_equal(m.count, count);
	if (m.schedule.stages[0].end_ns != end_ns)
		fail_msg("%s ends at %lld", spec, (long long)m.schedule.stages[0].end_ns);
	made_free(&m);
}

static void test_replay_ends(void **state)
{
	(void)state;
	write_arrivals((const int64_t[]){100, 200, 400, 1000}, 4);
	assert_replay("replay", 4, 1300);    /* one mean gap after the last */
	assert_replay("replay:n=2", 2, 400); /* one gap after the last */
	assert_replay("replay:n=4", 4, 1300);
	assert_replay("replay:for=150ns", 1, 150);
	assert_replay("replay:for=5us", 4, 5000);
	assert_replay("replay:for=5us,n=3", 3, 1000);
	assert_replay("replay:to=400ns", 2, 400);
	assert_replay("replay:from=150ns", 3, 1250);
	assert_replay("replay:from=150ns,speed=0.5", 3, 2500);
	assert_replay("replay:speed=1000", 4, 1);
	write_arrivals((const int64_t[]){0, 0, 0}, 3);
	assert_replay("replay", 3, IPF_ABSENT);
	write_arrivals((const int64_t[]){70}, 1);
	assert_replay("replay", 1, 71);
}

static void test_replay_needs_recorded_arrivals(void **state)
{
	(void)state;
	write_arrivals((const int64_t[]){IPF_ABSENT, IPF_ABSENT}, 2);
	assert_refused("replay", true, IPF_INPUT, "no request has an at_ns (recorded arrival), which a replay requires");
	write_arrivals((const int64_t[]){0, IPF_ABSENT, 2}, 3);
	assert_refused("replay", true, IPF_INPUT, "at_ns: missing; a replay requires it for every arrival");
	write_arrivals((const int64_t[]){0, 5, 4}, 3);
	assert_refused("replay", true, IPF_INPUT,
	               "at_ns: earlier than the previous arrival's; a replay requires a trace sorted by at_ns");
	write_arrivals((const int64_t[]){0, 5}, 2);
	assert_refused("replay:from=6ns", true, IPF_INPUT,
	               "stage 1 (replay): no arrival was recorded in this slice of the trace (from=, to=)");
	assert_refused("replay:from=1ns,to=5ns", true, IPF_INPUT,
	               "stage 1 (replay): no arrival was recorded in this slice of the trace (from=, to=)");
}

static void test_another_stage_changes_no_draws(void **state)
{
	static const char *const specs[] = {"poisson:rate=50,n=100",
	                                    "rest:for=10s closed:users=2,n=3 poisson:rate=50,n=100",
	                                    "gamma:rate=3,cv=2,for=9s poisson:rate=50,n=100,name=main poisson:rate=1,n=4"};
	int64_t gaps[99];

	(void)state;
	for (size_t k = 0; k < 3; k++) {
		struct made m = make_and_read(specs[k], false);
		size_t first = 0;
		while (strcmp(m.schedule.stages[m.list[first].stage].kind, "poisson") != 0)
			first++;
		for (size_t i = 0; i < 99; i++) {
			int64_t gap = m.list[first + i + 1].at_ns - m.list[first + i].at_ns;
			if (k == 0)
				gaps[i] = gap;
			assert_int_equal(gap, gaps[i]);
		}
		made_free(&m);
	}
}

/* ---- traces making no sense ---------------------------------------------------------------------------------- */

static void test_bad_traces_name_their_line(void **state)
{
#define REQUEST(id, more) "{\"id\":\"" id "\",\"prompt\":\"x\"" more "}"
	static const struct {
		const char *lines[4];
		int64_t line;
		const char *error;
	} cases[] = {
		{{REQUEST("a", ",\"session\":\"s\""), REQUEST("b", ""), REQUEST("c", ",\"session\":\"s\"")},
	     4,
	     "session: \"s\" continues after another session began; the requests of a session must be consecutive"},
		{{REQUEST("a", ",\"session\":\"s\""), REQUEST("b", ",\"session\":\"s\",\"parents\":[\"z\"]")},
	     3,
	     "parents: expected the id of an earlier request of the session, got \"z\""},
		{{REQUEST("a", ",\"session\":\"s\""), REQUEST("b", ",\"session\":\"s\",\"parents\":[\"b\"]")},
	     3,
	     "parents: expected the id of an earlier request of the session, got \"b\""},
		{{REQUEST("z", ""), REQUEST("a", ",\"session\":\"s\""),
	      REQUEST("b", ",\"session\":\"s\",\"parents\":[\"a\",\"z\"]")},
	     4,
	     "parents: expected the id of an earlier request of the session, got \"z\""},
		{{REQUEST("a", ",\"session\":\"s\""), REQUEST("b", ",\"session\":\"s\",\"parents\":[7]")},
	     3,
	     "parents: expected the id of an earlier request of the session, got 7"},
		{{REQUEST("a", ",\"session\":\"s\""), REQUEST("b", ",\"session\":\"s\",\"parents\":[]")},
	     3,
	     "parents: expected at least one id, got [] (only the first request of a session has no parents)"},
		{{REQUEST("a", ",\"session\":\"s\",\"parents\":[\"q\"]")},
	     2,
	     "parents: expected none for the first request of a session, got [\"q\"]"},
		{{REQUEST("a", ""), REQUEST("b", ",\"parents\":[\"a\"]")}, 3, "parents: requires a session"},
		{{REQUEST("a", ",\"session\":\"s\",\"turn\":3"), REQUEST("b", ",\"session\":\"s\",\"turn\":3")},
	     3,
	     "turn: expected more than 3, the turn of the previous request, got 3"},
		{{REQUEST("a", ""), REQUEST("b", ",\"at_ns\":-4")}, 3, NULL},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct ipf_error err = {0}, cut = {0};
		struct trace_index trace;
		size_t count = 0;
		while (count < 4 && cases[i].lines[count])
			count++;
		write_trace((char *const *)(uintptr_t)cases[i].lines, count, false);
		assert_int_equal(trace_index_read(&trace, trace_path, &silent, &cut, &err), -1);
		assert_int_equal(err.kind, IPF_INPUT);
		assert_string_equal(err.file, trace_path);
		assert_int_equal(err.line, cases[i].line);
		if (cases[i].error)
			assert_string_equal(err.text, cases[i].error);
		trace_index_release(&trace);
	}
}

static void test_a_cut_trace_is_good_as_far_as_it_goes(void **state)
{
	static char *const lines[] = {(char *)(uintptr_t)REQUEST("a", ""), (char *)(uintptr_t)REQUEST("b", "")};
	struct ipf_error err = {0}, cut = {0};
	struct trace_index whole, part;

	(void)state;
	write_trace(lines, 2, false);
	assert_int_equal(trace_index_read(&whole, trace_path, &silent, &cut, &err), 0);
	assert_int_equal(cut.kind, IPF_OK);
	write_trace(lines, 2, true);
	assert_int_equal(trace_index_read(&part, trace_path, &silent, &cut, &err), 0);
	assert_int_equal(cut.kind, IPF_CUT);
	assert_int_equal(part.count, 2);
	assert_string_equal(part.sha256, whole.sha256);
	trace_index_release(&part);
	write_trace(lines, 0, true);
	assert_int_equal(trace_index_read(&part, trace_path, &silent, &cut, &err), -1);
	assert_int_equal(err.kind, IPF_CUT);
	ipf_error_clear(&err);
	trace_index_release(&part);
	write_trace(lines, 0, false);
	assert_int_equal(trace_index_read(&part, trace_path, &silent, &cut, &err), -1);
	assert_int_equal(err.kind, IPF_INPUT);
	assert_string_equal(err.text, "the trace has no requests");
	trace_index_release(&part);
	trace_index_release(&whole);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stages_follow_one_another),
		cmocka_unit_test(test_stages_that_need_a_trace_say_so),
		cmocka_unit_test(test_excessive_stages_are_refused_at_once),
		cmocka_unit_test(test_sessions_become_followers),
		cmocka_unit_test(test_replay_sends_each_at_its_time),
		cmocka_unit_test(test_replay_ends),
		cmocka_unit_test(test_replay_needs_recorded_arrivals),
		cmocka_unit_test(test_another_stage_changes_no_draws),
		cmocka_unit_test(test_bad_traces_name_their_line),
		cmocka_unit_test(test_a_cut_trace_is_good_as_far_as_it_goes),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
