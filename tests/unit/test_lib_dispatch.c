#include "unit.h"

#include "absent.h"
#include "buffer.h"
#include "clock.h"
#include "dispatch/dispatch.h"

#include <stdbool.h>

#define MS NS_PER_MS

/* ---- a schedule in the making ---- */

struct setup {
	struct schedule_stage stages[8];
	struct schedule plan;
	struct dispatch *d;
	struct ipf_error err;
	int64_t n;
	int marks[64]; /* data pointers: &marks[n] */
};

static struct schedule_stage *add_stage(struct setup *s, int64_t begin_ms, int64_t end_ms, int64_t slots)
{
	struct schedule_stage *stage = &s->stages[s->plan.count++];
	*stage = (struct schedule_stage){.begin_ns = begin_ms * MS,
	                                 .end_ns = end_ms < 0 ? IPF_ABSENT : end_ms * MS,
	                                 .slots = slots < 0 ? IPF_ABSENT : slots,
	                                 .measured = true};
	s->plan.stages = s->stages;
	return stage;
}

static void begin(struct setup *s)
{
	s->d = dispatch_new(&s->plan);
	assert_non_null(s->d);
}

static int try_add(struct setup *s, int64_t stage, int64_t at_ms, int64_t after, int64_t wait_ms)
{
	struct schedule_arrival a = {.n = s->n,
	                             .req = s->n,
	                             .stage = stage,
	                             .at_ns = at_ms < 0 ? IPF_ABSENT : at_ms * MS,
	                             .after = &after,
	                             .after_count = after >= 0,
	                             .wait_ns = wait_ms < 0 ? IPF_ABSENT : wait_ms * MS};
	int result = dispatch_add(s->d, &a, &s->marks[s->n], &s->err);
	s->n++;
	return result;
}

static void add(struct setup *s, int64_t stage, int64_t at_ms, int64_t after, int64_t wait_ms)
{
	assert_int_equal(try_add(s, stage, at_ms, after, wait_ms), 0);
}

static struct dispatch_start expect(struct setup *s, int64_t now_ms, int64_t n)
{
	struct dispatch_start start;
	if (!dispatch_next(s->d, now_ms * MS, &start))
		fail_msg("nothing starts at %lld ms, expected %lld", (long long)now_ms, (long long)n);
	assert_int_equal((int *)start.data - s->marks, n);
	return start;
}

static void expect_none(struct setup *s, int64_t now_ms)
{
	struct dispatch_start start;
	if (dispatch_next(s->d, now_ms * MS, &start))
		fail_msg("%d starts at %lld ms, expected none", (int)((int *)start.data - s->marks), (long long)now_ms);
}

static void assert_wakes(struct setup *s, int64_t ms)
{
	assert_int_equal(dispatch_wake(s->d), ms < 0 ? INT64_MAX : ms * MS);
}

static void finish(struct setup *s)
{
	dispatch_finish(s->d);
	assert_true(dispatch_done(s->d));
	assert_int_equal(dispatch_in_flight(s->d), 0);
	dispatch_free(s->d);
}

/* ---- cases ---- */

static void test_arrivals_start_when_due(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, 100, -1)->arrivals = 3;
	begin(&s);
	add(&s, 0, 0, -1, -1);
	add(&s, 0, 20, -1, -1);
	add(&s, 0, 20, -1, -1);
	expect_none(&s, -5);
	struct dispatch_start a = expect(&s, 0, 0);
	assert_int_equal(a.due_ns, 0);
	assert_int_equal(a.ready_ns, 0);
	assert_int_equal(a.slot_ns, IPF_ABSENT);
	expect_none(&s, 19);
	assert_wakes(&s, 20);
	struct dispatch_start b = expect(&s, 23, 1), c = expect(&s, 23, 2);
	assert_int_equal(b.due_ns, 20 * MS); /* late, and it shows */
	assert_int_equal(c.ready_ns, 20 * MS);
	assert_int_equal(dispatch_in_flight(s.d), 3);
	dispatch_ended(s.d, c.ticket, 30 * MS);
	dispatch_ended(s.d, a.ticket, 31 * MS);
	assert_false(dispatch_done(s.d));
	dispatch_ended(s.d, b.ticket, 32 * MS);
	assert_false(dispatch_done(s.d)); /* more may come */
	finish(&s);
}

static void test_slots_are_given_first_come_first_served(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, 100, 1)->arrivals = 3;
	begin(&s);
	for (int i = 0; i < 3; i++)
		add(&s, 0, 10 * i, -1, -1);
	struct dispatch_start a = expect(&s, 0, 0);
	expect_none(&s, 25);
	assert_int_equal(dispatch_waiting(s.d), 2);
	assert_int_equal(dispatch_due(s.d), 3);
	dispatch_ended(s.d, a.ticket, 30 * MS);
	struct dispatch_start b = expect(&s, 31, 1);
	assert_int_equal(b.due_ns, 10 * MS);
	assert_int_equal(b.ready_ns, 10 * MS);
	assert_int_equal(b.slot_ns, 30 * MS);
	expect_none(&s, 32);
	dispatch_ended(s.d, b.ticket, 40 * MS);
	struct dispatch_start c = expect(&s, 40, 2);
	assert_int_equal(c.slot_ns, 40 * MS);
	dispatch_ended(s.d, c.ticket, 41 * MS);
	finish(&s);
}

static void test_followers_wait_for_all_they_name(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, 100, -1)->arrivals = 5;
	begin(&s);
	add(&s, 0, 0, -1, -1);
	add(&s, 0, 0, -1, -1);
	int64_t both[] = {0, 1};
	struct schedule_arrival join = {
		.n = 2, .stage = 0, .at_ns = IPF_ABSENT, .after = both, .after_count = 2, .wait_ns = 5 * MS};
	assert_int_equal(dispatch_add(s.d, &join, &s.marks[2], &s.err), 0);
	s.n = 3;
	struct dispatch_start a = expect(&s, 0, 0), b = expect(&s, 0, 1);
	dispatch_ended(s.d, a.ticket, 10 * MS);
	expect_none(&s, 50);
	dispatch_ended(s.d, b.ticket, 50 * MS);
	expect_none(&s, 54);
	assert_wakes(&s, 55);
	struct dispatch_start c = expect(&s, 56, 2);
	assert_int_equal(c.due_ns, 55 * MS);
	assert_int_equal(c.ready_ns, 55 * MS);
	dispatch_ended(s.d, c.ticket, 60 * MS);
	/* added after their parents have ended; at_ns holds back where it is later */
	add(&s, 0, -1, 2, -1);
	add(&s, 0, 90, 2, 1);
	struct dispatch_start d = expect(&s, 60, 3);
	assert_int_equal(d.due_ns, 60 * MS);
	expect_none(&s, 89);
	struct dispatch_start e = expect(&s, 90, 4);
	assert_int_equal(e.due_ns, 90 * MS);
	dispatch_ended(s.d, d.ticket, 91 * MS);
	dispatch_ended(s.d, e.ticket, 92 * MS);
	finish(&s);
}

static void assert_upcoming(struct setup *s, int64_t n)
{
	int *data = dispatch_upcoming(s->d);
	assert_int_equal(data ? data - s->marks : -1, n);
}

static void test_followers_are_announced(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, 100, -1)->arrivals = 6;
	begin(&s);
	add(&s, 0, 0, -1, -1);
	for (int i = 0; i < 3; i++)
		add(&s, 0, -1, i, -1);
	assert_upcoming(&s, -1);
	struct dispatch_start a = expect(&s, 0, 0);
	assert_upcoming(&s, 2); /* two turns ahead */
	assert_upcoming(&s, 1);
	assert_upcoming(&s, -1);
	add(&s, 0, -1, 0, -1); /* while it is under way */
	assert_upcoming(&s, 4);
	dispatch_ended(s.d, a.ticket, 1 * MS);
	add(&s, 0, -1, 0, -1); /* after its end */
	assert_upcoming(&s, 5);
	for (int i = 0; i < 5; i++) {
		struct dispatch_start b;
		assert_true(dispatch_next(s.d, 5 * MS, &b));
		assert_upcoming(&s, b.data == &s.marks[1] ? 3 : -1);
		dispatch_ended(s.d, b.ticket, 5 * MS);
	}
	finish(&s);
}

static void test_a_closed_stage_keeps_its_slots_busy(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 10, -1, 2)->closed = true;
	s.stages[0].arrivals = 4;
	begin(&s);
	for (int i = 0; i < 4; i++)
		add(&s, 0, -1, -1, -1);
	expect_none(&s, 9);
	assert_wakes(&s, 10);
	struct dispatch_start a = expect(&s, 11, 0), b = expect(&s, 11, 1);
	assert_int_equal(a.due_ns, IPF_ABSENT);
	assert_int_equal(a.ready_ns, 10 * MS);
	assert_int_equal(a.slot_ns, IPF_ABSENT);
	expect_none(&s, 20);
	dispatch_ended(s.d, b.ticket, 30 * MS);
	assert_int_equal(dispatch_wake(s.d), INT64_MIN);
	struct dispatch_start c = expect(&s, 31, 2);
	assert_int_equal(c.ready_ns, 30 * MS);
	dispatch_ended(s.d, a.ticket, 33 * MS);
	struct dispatch_start d = expect(&s, 33, 3);
	dispatch_ended(s.d, c.ticket, 40 * MS);
	dispatch_ended(s.d, d.ticket, 45 * MS);
	expect_none(&s, 45);
	int64_t from, to;
	dispatch_stage_times(s.d, 0, &from, &to);
	assert_int_equal(from, 10 * MS);
	assert_int_equal(to, 45 * MS);
	finish(&s);
}

static void test_a_follower_goes_before_new_sessions(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, -1, 1)->closed = true;
	s.stages[0].arrivals = 4;
	begin(&s);
	add(&s, 0, -1, -1, -1);
	add(&s, 0, -1, 0, 10);
	add(&s, 0, -1, -1, -1);
	add(&s, 0, -1, -1, -1);
	struct dispatch_start a = expect(&s, 0, 0);
	dispatch_ended(s.d, a.ticket, 5 * MS);
	struct dispatch_start b = expect(&s, 5, 2); /* the session thinks, its slot is free */
	expect_none(&s, 20);
	dispatch_ended(s.d, b.ticket, 20 * MS);
	struct dispatch_start c = expect(&s, 20, 1);
	assert_int_equal(c.due_ns, IPF_ABSENT);
	assert_int_equal(c.ready_ns, 15 * MS);
	assert_int_equal(c.slot_ns, 20 * MS);
	dispatch_ended(s.d, c.ticket, 21 * MS);
	struct dispatch_start d = expect(&s, 21, 3);
	dispatch_ended(s.d, d.ticket, 22 * MS);
	finish(&s);
}

static void test_a_stage_of_requests_moves_what_follows(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, 50, -1)->arrivals = 1;
	add_stage(&s, 50, -1, -1)->arrivals = 2; /* a burst */
	add_stage(&s, 50, 150, -1)->arrivals = 1;
	begin(&s);
	add(&s, 0, 0, -1, -1);
	add(&s, 1, 50, -1, -1);
	add(&s, 1, 50, -1, -1);
	add(&s, 2, 70, -1, -1);
	struct dispatch_start a = expect(&s, 0, 0), b = expect(&s, 50, 1), c = expect(&s, 50, 2);
	expect_none(&s, 75);
	dispatch_ended(s.d, b.ticket, 80 * MS);
	expect_none(&s, 90);
	dispatch_ended(s.d, c.ticket, 95 * MS); /* the first stage's request is still under way: it holds up nothing */
	expect_none(&s, 95);
	assert_wakes(&s, 115);
	struct dispatch_start d = expect(&s, 115, 3);
	assert_int_equal(d.due_ns, 115 * MS);
	int64_t from, to;
	dispatch_stage_times(s.d, 2, &from, &to);
	assert_int_equal(from, 95 * MS);
	assert_int_equal(to, 195 * MS);
	dispatch_ended(s.d, a.ticket, 200 * MS);
	dispatch_ended(s.d, d.ticket, 201 * MS);
	finish(&s);
}

static void test_a_first_stage_goes_before_the_start(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, -1, 1);
	add_stage(&s, 0, 100, -1);
	begin(&s);
	dispatch_lead(s.d, 500 * MS);
	add(&s, 0, 0, -1, -1);
	add(&s, 0, 0, -1, -1);
	add(&s, 1, 0, -1, -1);
	add(&s, 1, 20, -1, -1);
	expect_none(&s, -501);
	struct dispatch_start first = expect(&s, -500, 0);
	assert_int_equal(first.due_ns, -500 * MS);
	expect_none(&s, -499);
	dispatch_ended(s.d, first.ticket, -300 * MS);
	struct dispatch_start second = expect(&s, -300, 1);
	assert_int_equal(second.slot_ns, -300 * MS);
	dispatch_ended(s.d, second.ticket, -200 * MS);
	expect_none(&s, -200);
	assert_wakes(&s, 0);
	expect_none(&s, -1);
	first = expect(&s, 0, 2);
	assert_int_equal(first.due_ns, 0);
	expect_none(&s, 19);
	second = expect(&s, 20, 3);
	assert_int_equal(second.due_ns, 20 * MS);
	dispatch_ended(s.d, first.ticket, 30 * MS);
	dispatch_ended(s.d, second.ticket, 40 * MS);
	int64_t begin_ns, end_ns;
	dispatch_stage_times(s.d, 0, &begin_ns, &end_ns);
	assert_int_equal(begin_ns, -500 * MS);
	assert_int_equal(end_ns, -200 * MS);
	dispatch_stage_times(s.d, 1, &begin_ns, &end_ns);
	assert_int_equal(begin_ns, 0);
	finish(&s);
}

/* The next stage begins at the run's start even if the first one lasts longer. */
static void test_a_late_first_stage_moves_nothing(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, -1, 1)->arrivals = 1;
	add_stage(&s, 0, 100, -1)->arrivals = 1;
	begin(&s);
	dispatch_lead(s.d, 500 * MS);
	add(&s, 0, 0, -1, -1);
	add(&s, 1, 20, -1, -1);
	struct dispatch_start first = expect(&s, -500, 0);
	expect_none(&s, 40);
	dispatch_ended(s.d, first.ticket, 50 * MS);
	struct dispatch_start second = expect(&s, 50, 1);
	assert_int_equal(second.due_ns, 20 * MS);
	dispatch_ended(s.d, second.ticket, 60 * MS);
	finish(&s);
}

static void test_a_cycle_stage_ends_on_time(void **state)
{
	struct setup s = {0};
	(void)state;
	struct schedule_stage *stage = add_stage(&s, 0, 100, 1);
	stage->closed = stage->cycle = true;
	stage->arrivals = 2;
	begin(&s);
	assert_true(dispatch_wants(s.d, 0, 0));
	for (int i = 0; i < 6; i++) /* three rounds; the second of each follows the first */
		add(&s, 0, -1, i % 2 ? i - 1 : -1, i % 2 ? 20 : -1);
	dispatch_finish(s.d);
	struct dispatch_start a = expect(&s, 0, 0);
	dispatch_ended(s.d, a.ticket, 10 * MS);
	struct dispatch_start b = expect(&s, 10, 2);
	dispatch_ended(s.d, b.ticket, 85 * MS);
	struct dispatch_start c = expect(&s, 85, 1);
	assert_int_equal(c.ready_ns, 30 * MS);
	assert_int_equal(c.slot_ns, 85 * MS);
	assert_false(dispatch_done(s.d));
	dispatch_ended(s.d, c.ticket, 99 * MS);
	struct dispatch_start d = expect(&s, 99, 4);
	expect_none(&s, 100);
	assert_false(dispatch_wants(s.d, 0, 100 * MS));
	assert_int_equal((int *)dispatch_dropped(s.d) - s.marks, 3); /* due after the end */
	assert_null(dispatch_dropped(s.d));
	dispatch_ended(s.d, d.ticket, 120 * MS);
	expect_none(&s, 120);
	assert_int_equal((int *)dispatch_dropped(s.d) - s.marks, 5);
	assert_null(dispatch_dropped(s.d));
	finish(&s);
}

static void test_stopping_drops_what_has_not_started(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, 100, 1)->arrivals = 3;
	add_stage(&s, 100, -1, 1)->closed = true;
	s.stages[1].arrivals = 1;
	begin(&s);
	add(&s, 0, 0, -1, -1);
	add(&s, 0, 0, -1, -1);  /* waits for a slot */
	add(&s, 0, 50, -1, -1); /* for its time */
	add(&s, 0, -1, 2, -1);  /* for that one */
	add(&s, 0, -1, 0, -1);  /* for the one in flight */
	add(&s, 1, -1, -1, -1); /* for its stage */
	struct dispatch_start a = expect(&s, 0, 0);
	expect_none(&s, 1);
	assert_int_equal(dispatch_due(s.d), 2);
	dispatch_stop(s.d);
	expect_none(&s, 60);
	assert_wakes(&s, -1);
	assert_int_equal(dispatch_waiting(s.d), 0);
	assert_int_equal(dispatch_due(s.d), 2);
	int dropped = 0;
	while (dispatch_dropped(s.d))
		dropped++;
	assert_int_equal(dropped, 4);
	assert_false(dispatch_done(s.d));
	dispatch_ended(s.d, a.ticket, 61 * MS);
	expect_none(&s, 61);
	assert_int_equal((int *)dispatch_dropped(s.d) - s.marks, 4);
	add(&s, 0, 70, -1, -1); /* on its way when it was stopped */
	assert_int_equal((int *)dispatch_dropped(s.d) - s.marks, 6);
	finish(&s);
}

static void test_stopping_drops_an_arrival_with_a_slot(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, 100, 1)->arrivals = 2;
	begin(&s);
	add(&s, 0, 0, -1, -1);
	add(&s, 0, 0, -1, -1);
	struct dispatch_start a = expect(&s, 0, 0);
	expect_none(&s, 1);
	dispatch_ended(s.d, a.ticket, 2 * MS); /* the second one has its slot */
	dispatch_stop(s.d);
	expect_none(&s, 3);
	assert_int_equal((int *)dispatch_dropped(s.d) - s.marks, 1);
	finish(&s);
}

static void test_a_cut_schedule_ends(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, -1, -1)->arrivals = 1000; /* one of them is there */
	add_stage(&s, 0, 100, -1)->arrivals = 5;   /* and none of these */
	begin(&s);
	add(&s, 0, 0, -1, -1);
	struct dispatch_start a = expect(&s, 0, 0);
	dispatch_ended(s.d, a.ticket, 3 * MS);
	expect_none(&s, 3);
	finish(&s);
}

static void test_senseless_stages_are_refused(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, 100, -1)->arrivals = 3;
	begin(&s);
	add(&s, 0, 0, -1, -1);
	assert_int_equal(try_add(&s, 0, -1, 40, -1), -1);
	assert_int_equal(s.err.kind, IPF_INPUT);
	assert_non_null(strstr(s.err.text, "n 40"));
	ipf_error_clear(&s.err);
	assert_int_equal(try_add(&s, 1, 0, -1, -1), -1);
	assert_int_equal(s.err.kind, IPF_INPUT);
	/* one good parent, one that is unknown: nothing is left of the attempt */
	int64_t mixed[] = {0, 41};
	struct schedule_arrival a = {
		.n = 9, .stage = 0, .at_ns = IPF_ABSENT, .after = mixed, .after_count = 2, .wait_ns = IPF_ABSENT};
	ipf_error_clear(&s.err);
	assert_int_equal(dispatch_add(s.d, &a, &s.marks[9], &s.err), -1);
	struct dispatch_start first = expect(&s, 0, 0);
	dispatch_ended(s.d, first.ticket, 5 * MS);
	expect_none(&s, 10);
	finish(&s);
}

static void test_it_looks_ahead_and_not_too_far(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, 1000000, -1)->arrivals = 1000000;
	begin(&s);
	int64_t added = 0;
	for (; dispatch_wants(s.d, -1, 0); added++) {
		struct schedule_arrival a = {.n = added, .stage = 0, .at_ns = added * MS, .wait_ns = IPF_ABSENT};
		assert_int_equal(dispatch_add(s.d, &a, &s, &s.err), 0);
		assert_true(added < 5000);
	}
	assert_in_range(added, 1001, 1500); /* a second of them */
	dispatch_free(s.d);
	/* at ten a second it is some hundred */
	begin(&s);
	for (added = 0; dispatch_wants(s.d, -1, 0); added++) {
		struct schedule_arrival a = {.n = added, .stage = 0, .at_ns = added * 100 * MS, .wait_ns = IPF_ABSENT};
		assert_int_equal(dispatch_add(s.d, &a, &s, &s.err), 0);
		assert_true(added < 5000);
	}
	assert_in_range(added, 100, 1000);
	dispatch_free(s.d);
}

/* ---- whole schedules ---- */

#define NONE (-1)

/* Times in milliseconds; NONE: absent. Requests last as long as is said here. */
static const struct schedule_told {
	const char *what;
	int64_t shard, shards;
	struct {
		int64_t begin, end, slots;
		const char *is;             /* c: closed; s: whole sessions; o: overlaps; d: drains */
		int64_t rampup, pace, more; /* more: arrivals announced and do not come */
	} stages[4];
	struct {
		int64_t stage, at, after, wait, lasts;
	} arrivals[12]; /* the first lasting 0 ends them */
	const char *expected;
} told[] = {
	{"users think",
     0,
     0,
     {{0, NONE, 1, "c", 0, 0, 0}},
     {{0, NONE, NONE, 20, 10}, {0, NONE, NONE, 20, 10}, {0, NONE, NONE, NONE, 10}},
     "0@0 .,0,.; 1@30 .,30,.; 2@40 .,40,.; 0-50"},
	{"users keep a pace",
     0,
     0,
     {{0, NONE, 1, "c", 0, 50, 0}},
     {{0, NONE, NONE, NONE, 10},
      {0, NONE, NONE, NONE, 70},
      {0, NONE, NONE, NONE, 50},
      {0, NONE, NONE, 10, 5},
      {0, NONE, NONE, 60, 5}},
     "0@0 .,0,.; 1@50 .,50,.; 2@120 .,120,.; 3@180 .,180,.; 4@245 .,245,.; 0-250"},
	{"users arrive one after another",
     0,
     0,
     {{10, NONE, 4, "c", 40, 0, 0}},
     {{0, NONE, NONE, NONE, 12},
      {0, NONE, NONE, NONE, 100},
      {0, NONE, NONE, NONE, 100},
      {0, NONE, NONE, NONE, 100},
      {0, NONE, NONE, NONE, 5}},
     "0@10 .,10,.; 1@20 .,20,.; 4@22 .,22,.; 2@30 .,30,.; 3@40 .,40,.; 10-140"},
	{"and take turns with those of another client",
     2,
     2,
     {{10, NONE, 2, "c", 40, 0, 0}},
     {{0, NONE, NONE, NONE, 100}, {0, NONE, NONE, NONE, 100}},
     "0@20 .,20,.; 1@40 .,40,.; 10-140"},
	{"fewer users in the next stage",
     0,
     0,
     {{0, 100, 3, "c", 0, 0, 0}, {100, NONE, 1, "c", 0, 0, 0}},
     {{0, NONE, NONE, NONE, 120},
      {0, NONE, NONE, NONE, 130},
      {0, NONE, NONE, NONE, 20},
      {1, NONE, NONE, NONE, 7},
      {1, NONE, NONE, NONE, 7}},
     "0@0 .,0,.; 1@0 .,0,.; 2@0 .,0,.; 3@130 .,130,.; 4@137 .,137,.; 0-100, 100-144"},
	{"fewer, and one of them is free",
     0,
     0,
     {{0, 100, 2, "c", 0, 0, 0}, {100, NONE, 1, "c", 0, 0, 0}},
     {{0, NONE, NONE, NONE, 20}, {0, NONE, NONE, NONE, 130}, {1, NONE, NONE, NONE, 7}, {1, NONE, NONE, NONE, 7}},
     "0@0 .,0,.; 1@0 .,0,.; 2@130 .,130,.; 3@137 .,137,.; 0-100, 100-144"},
	{"more users in the next stage",
     0,
     0,
     {{0, 100, 1, "c", 0, 0, 0}, {100, NONE, 3, "c", 20, 0, 0}},
     {{0, NONE, NONE, NONE, 105}, {1, NONE, NONE, NONE, 50}, {1, NONE, NONE, NONE, 50}, {1, NONE, NONE, NONE, 50}},
     "0@0 .,0,.; 1@100 .,100,.; 3@105 .,105,.; 2@110 .,110,.; 0-100, 100-160"},
	{"fewer, and more again before they have left",
     0,
     0,
     {{0, 100, 3, "c", 0, 0, 0}, {100, 200, 1, "c", 0, 0, 0}, {200, NONE, 4, "c", 30, 0, 0}},
     {{0, NONE, NONE, NONE, 310},
      {0, NONE, NONE, NONE, 320},
      {0, NONE, NONE, NONE, 20},
      {2, NONE, NONE, NONE, 500},
      {2, NONE, NONE, NONE, 500},
      {2, NONE, NONE, NONE, 500},
      {2, NONE, NONE, NONE, 500}},
     "0@0 .,0,.; 1@0 .,0,.; 2@0 .,0,.; 3@200 .,200,.; 4@215 .,215,.; 5@310 .,310,.; 6@320 .,320,.; 0-100, 100-200, 200-820"},
	{"not closed in between",
     0,
     0,
     {{0, 100, 1, "c", 0, 0, 0}, {100, 200, NONE, "", 0, 0, 0}, {200, NONE, 2, "c", 10, 0, 0}},
     {{0, NONE, NONE, NONE, 210}, {1, 120, NONE, NONE, 10}, {2, NONE, NONE, NONE, 30}, {2, NONE, NONE, NONE, 30}},
     "0@0 .,0,.; 1@120 120,120,.; 2@200 .,200,.; 3@205 .,205,.; 0-100, 100-200, 200-235"},
	{"arrivals with a time in a closed stage",
     0,
     0,
     {{0, NONE, 1, "c", 0, 0, 0}},
     {{0, 10, NONE, NONE, 30}, {0, 20, NONE, NONE, 5}, {0, 60, NONE, NONE, 5}, {0, NONE, NONE, NONE, 5}},
     "3@0 .,0,.; 0@10 10,10,.; 1@40 20,20,40; 2@60 60,60,.; 0-65"},
	{"thinking at the end of a stage",
     0,
     0,
     {{0, 50, 1, "c", 0, 0, 0}},
     {{0, NONE, NONE, NONE, 10}, {0, NONE, NONE, 40, 10}, {0, NONE, NONE, NONE, 10}},
     "0@0 .,0,.; -1; -2; 0-50"},
	{"thinking until just before it",
     0,
     0,
     {{0, 50, 1, "c", 0, 0, 0}},
     {{0, NONE, NONE, NONE, 10}, {0, NONE, NONE, 39, 10}, {0, NONE, NONE, NONE, 10}},
     "0@0 .,0,.; 1@49 .,49,.; -2; 0-50"},
	{"sessions of a user",
     0,
     0,
     {{0, NONE, 1, "cs", 0, 0, 0}},
     {{0, NONE, NONE, NONE, 10}, {0, NONE, 0, 5, 10}, {0, NONE, NONE, 7, 10}, {0, NONE, 2, NONE, 10}},
     "0@0 .,0,.; 1@15 .,15,.; 2@32 .,32,.; 3@42 .,42,.; 0-52"},
	{"sessions of which more was announced",
     0,
     0,
     {{0, 200, 2, "cs", 0, 30, 9}},
     {{0, NONE, NONE, NONE, 10},
      {0, NONE, 0, 5, 10},
      {0, NONE, NONE, NONE, 10},
      {0, NONE, NONE, NONE, 10},
      {0, NONE, 3, 300, 10}},
     "0@0 .,0,.; 2@0 .,0,.; 1@15 .,15,.; 3@30 .,30,.; -4; 0-200"},
	{"sessions and the end of their stage",
     0,
     0,
     {{0, 50, 1, "cs", 0, 0, 0}, {50, NONE, 1, "c", 0, 0, 0}},
     {{0, NONE, NONE, NONE, 30}, {0, NONE, 0, 30, 10}, {0, NONE, NONE, NONE, 10}, {1, NONE, NONE, NONE, 10}},
     "0@0 .,0,.; -1; 3@50 .,50,.; -2; 0-50, 50-60"},
	{"sessions that begin in another order",
     0,
     0,
     {{0, NONE, 1, "cs", 0, 0, 0}},
     {{0, 20, NONE, NONE, 10}, {0, 10, NONE, NONE, 5}},
     "1@10 10,10,.; 0@20 20,20,.; 0-30"},
	{"the next stage begins with the last start",
     0,
     0,
     {{0, NONE, 1, "o", 0, 0, 0}, {0, 100, NONE, "", 0, 0, 0}},
     {{0, 0, NONE, NONE, 30}, {0, 0, NONE, NONE, 200}, {1, 0, NONE, NONE, 10}, {1, 20, NONE, NONE, 10}},
     "0@0 0,0,.; 1@30 0,0,30; 2@30 30,30,.; 3@50 50,50,.; 0-30, 30-130"},
	{"a stage that drains",
     0,
     0,
     {{0, 50, NONE, "d", 0, 0, 0}, {50, 100, NONE, "", 0, 0, 0}},
     {{0, 10, NONE, NONE, 80}, {1, 50, NONE, NONE, 10}, {1, 70, NONE, NONE, 10}},
     "0@10 10,10,.; 1@90 90,90,.; 2@110 110,110,.; 0-50, 90-140"},
	{"and has nothing to wait for",
     0,
     0,
     {{0, 50, NONE, "d", 0, 0, 0}, {50, 100, NONE, "", 0, 0, 0}},
     {{0, 10, NONE, NONE, 20}, {1, 50, NONE, NONE, 10}, {1, 70, NONE, NONE, 10}},
     "0@10 10,10,.; 1@50 50,50,.; 2@70 70,70,.; 0-50, 50-100"},
	{"followers in a later stage",
     0,
     0,
     {{0, NONE, NONE, "", 0, 0, 0}, {0, 100, NONE, "", 0, 0, 0}},
     {{0, 0, NONE, NONE, 30}, {1, 5, 0, NONE, 10}, {1, 40, 0, 10, 10}, {1, 1, 0, 50, 10}},
     "0@0 0,0,.; 1@35 35,35,.; 2@70 70,70,.; 3@80 80,80,.; 0-30, 30-130"},
	{"a burst of a stage without times",
     0,
     0,
     {{0, 30, NONE, "", 0, 0, 0}, {30, 60, 1, "", 0, 0, 0}},
     {{0, 0, NONE, NONE, 5}, {1, NONE, NONE, NONE, 10}, {1, NONE, NONE, NONE, 10}, {1, NONE, 2, NONE, 10}},
     "0@0 0,0,.; 1@30 30,30,.; 2@40 30,30,40; 3@50 50,50,.; 0-30, 30-60"},
};

static void make_told(struct setup *s, const struct schedule_told *t)
{
	for (size_t i = 0; i < 4 && t->stages[i].slots; i++) {
		struct schedule_stage *stage = add_stage(s, t->stages[i].begin, t->stages[i].end, t->stages[i].slots);
		stage->closed = strchr(t->stages[i].is, 'c');
		stage->sessions = strchr(t->stages[i].is, 's');
		stage->overlap = strchr(t->stages[i].is, 'o');
		stage->drain = strchr(t->stages[i].is, 'd');
		stage->rampup_ns = t->stages[i].rampup * MS;
		stage->pace_ns = t->stages[i].pace * MS;
		stage->arrivals = t->stages[i].more;
	}
	s->plan.shard = t->shard;
	s->plan.shards = t->shards;
	for (size_t i = 0; i < 12 && t->arrivals[i].lasts; i++)
		s->stages[t->arrivals[i].stage].arrivals++;
	begin(s);
	for (size_t i = 0; i < 12 && t->arrivals[i].lasts; i++)
		add(s, t->arrivals[i].stage, t->arrivals[i].at, t->arrivals[i].after, t->arrivals[i].wait);
	dispatch_finish(s->d);
}

static void say_time(struct buffer *to, const char *before, int64_t t)
{
	buffer_text(to, before);
	if (t == IPF_ABSENT)
		buffer_byte(to, '.');
	else
		buffer_format(to, "%lld", (long long)(t / MS));
}

/* Appends "n@start due,ready,slot; " for each that starts, "-n; " for each that is dropped, and from when to when the
 * stages were. */
static void carry_out(struct setup *s, const struct schedule_told *t, struct buffer *to)
{
	struct dispatch_node *tickets[12] = {0};
	int64_t ends[12], now = 0, left;
	do {
		int64_t wake = dispatch_wake(s->d);
		struct dispatch_start start;
		int first = -1;
		left = 0;
		for (int i = 0; i < 12; i++)
			if (tickets[i]) {
				first = first < 0 || ends[i] < ends[first] ? i : first;
				left++;
			}
		if (first >= 0 && ends[first] <= wake) {
			now = ends[first];
			dispatch_ended(s->d, tickets[first], now);
			tickets[first] = NULL;
		} else if (wake < INT64_MAX) {
			now = wake > now ? wake : now;
			left++;
		}
		while (dispatch_next(s->d, now, &start)) {
			int n = (int)((int *)start.data - s->marks);
			assert_null(tickets[n]);
			tickets[n] = start.ticket;
			ends[n] = now + t->arrivals[n].lasts * MS;
			buffer_format(to, "%d", n);
			say_time(to, "@", now);
			say_time(to, " ", start.due_ns);
			say_time(to, ",", start.ready_ns);
			say_time(to, ",", start.slot_ns);
			buffer_text(to, "; ");
			left++;
		}
		for (int *data; (data = dispatch_dropped(s->d)); left++)
			buffer_format(to, "-%d; ", (int)(data - s->marks));
	} while (left);
	for (size_t i = 0; i < s->plan.count; i++) {
		int64_t from, until;
		dispatch_stage_times(s->d, (int64_t)i, &from, &until);
		say_time(to, i ? ", " : "", from);
		say_time(to, "-", until);
	}
	buffer_byte(to, '\0');
}

static void test_whole_schedules(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof told / sizeof *told; i++) {
		struct setup s = {0};
		struct buffer text = {0};
		make_told(&s, &told[i]);
		carry_out(&s, &told[i], &text);
		if (strcmp(text.data, told[i].expected) != 0)
			fail_msg("%s: %s", told[i].what, text.data);
		assert_true(dispatch_done(s.d));
		assert_int_equal(dispatch_in_flight(s.d), 0);
		assert_int_equal(dispatch_waiting(s.d), 0);
		buffer_release(&text);
		dispatch_free(s.d);
	}
}

/* ---- limits ---- */

static void test_times_that_can_be(void **state)
{
	static const struct {
		int64_t n, stage, at_ns, wait_ns;
		bool good;
	} cases[] = {{0, 0, 0, IPF_ABSENT, true},
	             {1, 0, INT64_MAX / 4 - 1, 0, true},
	             {2, 0, INT64_MAX / 4, 0, false},
	             {2, 0, -1, 0, false},
	             {2, 0, 0, INT64_MAX / 4 - 1, true},
	             {3, 0, 0, INT64_MAX / 4, false},
	             {3, 0, 0, -1, false},
	             {3, -1, 0, 0, false},
	             {3, 2, 0, 0, false},
	             {-1, 0, 0, 0, false},
	             {3, 1, 0, 0, true}};
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, 100, -1)->arrivals = 3;
	add_stage(&s, 100, 200, -1)->arrivals = 1;
	begin(&s);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const struct schedule_arrival a = {
			.n = cases[i].n, .stage = cases[i].stage, .at_ns = cases[i].at_ns, .wait_ns = cases[i].wait_ns};
		ipf_error_clear(&s.err);
		if ((dispatch_add(s.d, &a, &s.marks[0], &s.err) == 0) != cases[i].good)
			fail_msg("case %zu: %s", i, *s.err.text ? s.err.text : "accepted");
		assert_int_equal(s.err.kind, cases[i].good ? IPF_OK : IPF_INPUT);
	}
	dispatch_free(s.d);
}

/* How many are wanted, of arrivals `apart_ms` from each other. */
static int64_t wanted(struct setup *s, int64_t stage, int64_t apart_ms)
{
	int64_t added = 0;
	for (; dispatch_wants(s->d, stage < 0 ? -1 : stage, 0); added++) {
		struct schedule_arrival a = {.n = added,
		                             .stage = stage < 0 ? 0 : stage,
		                             .at_ns = apart_ms < 0 ? IPF_ABSENT : added * apart_ms * MS,
		                             .wait_ns = IPF_ABSENT};
		assert_int_equal(dispatch_add(s->d, &a, s, &s->err), 0);
		assert_true(added < 5000);
	}
	return added;
}

static void test_the_dispatcher_looks_a_second_ahead(void **state)
{
	static const struct {
		int64_t slots, apart_ms;
		bool closed, cycle;
		int64_t expected;
	} cases[] = {{-1, 1, false, false, 1002}, /* a second */
	             {-1, 100, false, false, 256}, {-1, 4, false, false, 256},
	             {9, 100, false, false, 256},  {9, -1, true, false, 265}, /* and one for each user */
	             {9, -1, true, true, 73}};
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct setup s = {0};
		struct schedule_stage *stage = add_stage(&s, 0, 1000000, cases[i].slots);
		stage->closed = cases[i].closed;
		stage->cycle = cases[i].cycle;
		stage->arrivals = 1000000;
		begin(&s);
		const int64_t added = wanted(&s, cases[i].cycle ? 0 : -1, cases[i].apart_ms);
		if (added != cases[i].expected)
			fail_msg("case %zu: %lld", i, (long long)added);
		if (cases[i].apart_ms == 100) { /* one becomes due, one more is wanted */
			assert_false(dispatch_wants(s.d, -1, 0));
			struct dispatch_start first;
			assert_true(dispatch_next(s.d, 0, &first));
			assert_true(dispatch_wants(s.d, -1, 0));
			dispatch_ended(s.d, first.ticket, 0);
		}
		if (cases[i].apart_ms == 1) {
			assert_false(dispatch_wants(s.d, -1, 0));
			assert_true(dispatch_wants(s.d, -1, 1 * MS));
		}
		dispatch_finish(s.d);
		assert_int_equal(dispatch_wants(s.d, -1, 1000 * NS_PER_S), false);
		dispatch_stop(s.d);
		assert_false(dispatch_wants(s.d, 0, 0));
		dispatch_free(s.d);
	}
}

/* Arrivals a closed stage has not started at its end make room for more, also for those due later. */
static void test_the_end_of_a_closed_stage(void **state)
{
	struct setup s = {0};
	int dropped = 0;
	(void)state;
	add_stage(&s, 0, 100, 1)->arrivals = 1000000;
	s.stages[0].closed = true;
	add_stage(&s, 100, 1000000, -1)->arrivals = 1000000;
	begin(&s);
	const struct schedule_arrival late = {.n = 10000, .stage = 0, .at_ns = 170 * MS, .wait_ns = IPF_ABSENT};
	const int64_t added = wanted(&s, -1, -1);
	assert_int_equal(dispatch_add(s.d, &late, &s.marks[0], &s.err), 0);
	assert_int_equal(added, 257);
	struct dispatch_start first;
	assert_true(dispatch_next(s.d, 0, &first));
	expect_none(&s, 99);
	assert_null(dispatch_dropped(s.d));
	expect_none(&s, 100);
	while (dispatch_dropped(s.d))
		dropped++;
	assert_int_equal(dropped, 257); /* all but the one that runs */
	assert_wakes(&s, -1);
	for (int64_t n = 0; n < 256; n++) {
		const struct schedule_arrival more = {.n = 20000 + n, .stage = 1, .at_ns = 100000 * MS, .wait_ns = IPF_ABSENT};
		assert_true(dispatch_wants(s.d, -1, 100 * MS));
		assert_int_equal(dispatch_add(s.d, &more, &s, &s.err), 0);
	}
	assert_false(dispatch_wants(s.d, -1, 100 * MS));
	dispatch_ended(s.d, first.ticket, 101 * MS);
	dispatch_free(s.d);
}

static void test_threads_are_proposed(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, 100, -1)->arrivals = 2;
	begin(&s);
	assert_int_equal(dispatch_wake_thread(s.d), -1);
	add(&s, 0, 0, -1, -1);
	add(&s, 0, -1, 0, 10);
	assert_int_equal(dispatch_wake_thread(s.d), -1);
	struct dispatch_start a = expect(&s, 0, 0);
	assert_int_equal(a.thread, -1);
	dispatch_set_thread(a.ticket, 3);
	dispatch_ended(s.d, a.ticket, 5 * MS);
	assert_int_equal(dispatch_wake_thread(s.d), 3);
	struct dispatch_start b = expect(&s, 15, 1);
	assert_int_equal(b.thread, 3);
	dispatch_ended(s.d, b.ticket, 20 * MS);
	finish(&s);
}

/* Two stages with times, a follower of the first that ends late, and a reset before the second, which takes 30 ms. */
static void test_a_cold_stage_waits_for_the_caller(void **state)
{
	struct setup s = {0};
	(void)state;
	struct schedule_stage *first = add_stage(&s, 0, 100, -1);
	first->arrivals = 2;
	first->drain = true;
	struct schedule_stage *cold = add_stage(&s, 100, 200, -1);
	cold->arrivals = 2;
	cold->cold = true;
	begin(&s);
	add(&s, 0, 0, -1, -1);
	add(&s, 0, -1, 0, 90);
	add(&s, 1, 100, -1, -1);
	add(&s, 1, 110, -1, -1);
	dispatch_finish(s.d);
	struct dispatch_start a = expect(&s, 0, 0);
	dispatch_ended(s.d, a.ticket, 50 * MS);
	expect_none(&s, 100);
	assert_int_equal(dispatch_gate(s.d), -1); /* the follower comes first */
	struct dispatch_start b = expect(&s, 140, 1);
	expect_none(&s, 150);
	assert_int_equal(dispatch_gate(s.d), -1);
	assert_wakes(&s, -1);
	dispatch_ended(s.d, b.ticket, 160 * MS);
	expect_none(&s, 160);
	assert_int_equal(dispatch_gate(s.d), 1);
	assert_wakes(&s, -1);
	expect_none(&s, 1000);
	dispatch_open_gate(s.d, 190 * MS);
	assert_int_equal(dispatch_gate(s.d), -1);
	struct dispatch_start c = expect(&s, 190, 2);
	assert_int_equal(c.due_ns, 190 * MS);
	expect_none(&s, 190);
	assert_wakes(&s, 200);
	struct dispatch_start d = expect(&s, 200, 3);
	assert_int_equal(d.due_ns, 200 * MS);
	int64_t begin_ns, end_ns;
	dispatch_stage_times(s.d, 1, &begin_ns, &end_ns);
	assert_int_equal(begin_ns, 190 * MS);
	assert_int_equal(end_ns, 290 * MS);
	dispatch_ended(s.d, c.ticket, 210 * MS);
	dispatch_ended(s.d, d.ticket, 220 * MS);
	finish(&s);
}

static void test_a_stopped_run_has_no_gate(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, -1, -1)->arrivals = 1;
	struct schedule_stage *cold = add_stage(&s, 0, -1, -1);
	cold->arrivals = 1;
	cold->cold = true;
	begin(&s);
	add(&s, 0, 0, -1, -1);
	add(&s, 1, 0, -1, -1);
	struct dispatch_start a = expect(&s, 0, 0);
	dispatch_ended(s.d, a.ticket, 5 * MS);
	expect_none(&s, 5);
	assert_int_equal(dispatch_gate(s.d), 1);
	dispatch_stop(s.d);
	assert_int_equal(dispatch_gate(s.d), -1);
	while (dispatch_dropped(s.d))
		;
	finish(&s);
}

/* How many more arrivals of this stage without end are wanted before a second from now. */
static int64_t more_wanted(struct setup *s, int64_t stage, int64_t n, int64_t now_ms)
{
	int64_t added = 0;
	for (; dispatch_wants(s->d, -1, now_ms * MS); added++) {
		const struct schedule_arrival a = {
			.n = n + added, .stage = stage, .at_ns = 1000000 * MS, .wait_ns = IPF_ABSENT};
		assert_int_equal(dispatch_add(s->d, &a, s, &s->err), 0);
		assert_true(added < 5000);
	}
	return added;
}

static void test_arrivals_dropped_at_the_end_of_a_stage_are_not_ahead(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, 100, 1)->arrivals = 10;
	s.stages[0].closed = true;
	add_stage(&s, 100, 1000000, -1)->arrivals = 1000000;
	begin(&s);
	for (int i = 0; i < 10; i++)
		add(&s, 0, i < 8 ? i : 99, -1, -1); /* the last two become due while nobody asks */
	add(&s, 0, -1, 1, -1);                  /* waits for one of them */
	struct dispatch_start first = expect(&s, 0, 0);
	expect_none(&s, 50);
	assert_int_equal(dispatch_waiting(s.d), 7);
	expect_none(&s, 100);
	int dropped = 0;
	while (dispatch_dropped(s.d))
		dropped++;
	assert_int_equal(dropped, 10);
	assert_int_equal(dispatch_waiting(s.d), 0);
	assert_int_equal(dispatch_due(s.d), 8);
	assert_int_equal(more_wanted(&s, 1, 100, 100), 256);
	dispatch_ended(s.d, first.ticket, 101 * MS);
	dispatch_free(s.d);
}

static void test_followers_are_not_ahead(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, 1000000, -1)->arrivals = 1000000;
	begin(&s);
	add(&s, 0, 900000, -1, -1);
	for (int i = 0; i < 20; i++)
		add(&s, 0, -1, 0, -1);
	assert_int_equal(more_wanted(&s, 0, 100, 0), 255);
	dispatch_free(s.d);
	s.n = 0;
	begin(&s);
	add(&s, 0, 0, -1, -1);
	for (int i = 0; i < 20; i++)
		add(&s, 0, -1, 0, -1);
	struct dispatch_start starts[21];
	starts[0] = expect(&s, 0, 0);
	dispatch_ended(s.d, starts[0].ticket, 1 * MS);
	for (int i = 1; i <= 20; i++) /* due, but they were never ahead */
		starts[i] = expect(&s, 1, i);
	assert_int_equal(more_wanted(&s, 0, 100, 1), 256);
	for (int i = 1; i <= 20; i++)
		dispatch_ended(s.d, starts[i].ticket, 2 * MS);
	dispatch_free(s.d);
}

static void test_a_stage_that_has_not_begun_has_no_times(void **state)
{
	struct setup s = {0};
	int64_t from = 0, to = 0;
	(void)state;
	add_stage(&s, 0, 100, -1);
	add_stage(&s, 100, 200, -1);
	begin(&s);
	expect_none(&s, 99);
	dispatch_stage_times(s.d, 1, &from, &to);
	assert_int_equal(from, IPF_ABSENT);
	assert_int_equal(to, IPF_ABSENT);
	expect_none(&s, 100);
	dispatch_stage_times(s.d, 1, &from, &to);
	assert_int_equal(from, 100 * MS);
	assert_int_equal(to, 200 * MS);
	finish(&s);
}

/* The chunk of 1024 arrivals that ended two rounds ago is given back. */
static void test_a_cycle_forgets_old_rounds(void **state)
{
	struct setup s = {0};
	const int64_t parents[] = {1024, 1023};
	(void)state;
	struct schedule_stage *stage = add_stage(&s, 0, 1000000, 1);
	stage->closed = stage->cycle = true;
	stage->arrivals = 512;
	begin(&s);
	struct schedule_arrival a = {.stage = 0, .at_ns = IPF_ABSENT, .wait_ns = IPF_ABSENT};
	for (; a.n <= 2048; a.n++) {
		struct dispatch_start start;
		assert_int_equal(dispatch_add(s.d, &a, &s, &s.err), 0);
		assert_true(dispatch_next(s.d, a.n * MS, &start));
		dispatch_ended(s.d, start.ticket, a.n * MS);
	}
	for (int i = 0; i < 2; i++) {
		a.after = &parents[i];
		a.after_count = 1;
		assert_int_equal(dispatch_add(s.d, &a, &s, &s.err), i == 0 ? 0 : -1);
		a.n++;
	}
	assert_int_equal(s.err.kind, IPF_INPUT);
	dispatch_free(s.d);
}

static void test_a_cycle_without_requests_is_not_done_before_its_end(void **state)
{
	struct setup s = {0};
	(void)state;
	struct schedule_stage *stage = add_stage(&s, 0, 100, 1);
	stage->closed = stage->cycle = true;
	stage->arrivals = 1;
	begin(&s);
	add(&s, 0, -1, -1, -1);
	dispatch_finish(s.d);
	struct dispatch_start a = expect(&s, 0, 0);
	dispatch_ended(s.d, a.ticket, 10 * MS);
	expect_none(&s, 10);
	assert_false(dispatch_done(s.d)); /* the arrival comes again */
	expect_none(&s, 100);
	finish(&s);
	s.n = 0;
	stage->arrivals = 0; /* there is none to come */
	begin(&s);
	finish(&s);
}

/* The user of a session goes on when the next one shows that it is over. */
static void test_the_next_session_ends_the_one_before(void **state)
{
	struct setup s = {0};
	(void)state;
	struct schedule_stage *stage = add_stage(&s, 0, 100, 1);
	stage->closed = stage->sessions = true;
	stage->arrivals = 2;
	begin(&s);
	add(&s, 0, -1, -1, -1);
	struct dispatch_start a = expect(&s, 0, 0);
	dispatch_ended(s.d, a.ticket, 10 * MS);
	expect_none(&s, 20);
	add(&s, 0, -1, -1, -1);
	struct dispatch_start b = expect(&s, 30, 1);
	assert_int_equal(b.ready_ns, 10 * MS);
	dispatch_ended(s.d, b.ticket, 40 * MS);
	finish(&s);
}

/* The last request of a session is in it. */
static void test_a_stage_of_sessions_counts_those_cut_at_its_end(void **state)
{
	struct setup s = {0};
	(void)state;
	struct schedule_stage *stage = add_stage(&s, 0, 100, 1);
	stage->closed = stage->sessions = true;
	stage->arrivals = 3;
	begin(&s);
	add(&s, 0, -1, -1, -1);
	add(&s, 0, -1, -1, -1);
	add(&s, 0, -1, 1, 10);
	struct dispatch_start a = expect(&s, 0, 0);
	dispatch_ended(s.d, a.ticket, 20 * MS);
	struct dispatch_start b = expect(&s, 20, 1);
	dispatch_ended(s.d, b.ticket, 95 * MS);
	expect_none(&s, 100);
	assert_int_equal((int *)dispatch_dropped(s.d) - s.marks, 2);
	assert_int_equal(dispatch_cut_sessions(s.d), 1);
	finish(&s);
}

static void test_a_follower_of_a_dropped_arrival_is_dropped(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, 100, 1)->arrivals = 3;
	s.stages[0].closed = true;
	begin(&s);
	add(&s, 0, -1, -1, -1);
	add(&s, 0, -1, -1, -1);
	struct dispatch_start a = expect(&s, 0, 0);
	expect_none(&s, 100);
	assert_int_equal((int *)dispatch_dropped(s.d) - s.marks, 1);
	add(&s, 0, -1, 1, -1); /* read later */
	assert_int_equal((int *)dispatch_dropped(s.d) - s.marks, 2);
	add(&s, 0, -1, -1, -1); /* the stage is over */
	assert_int_equal((int *)dispatch_dropped(s.d) - s.marks, 3);
	add(&s, 0, 50, -1, -1);
	assert_int_equal((int *)dispatch_dropped(s.d) - s.marks, 4);
	assert_null(dispatch_dropped(s.d));
	dispatch_ended(s.d, a.ticket, 101 * MS);
	finish(&s);
}

/* The slot is free at 99, but the sender looks at the end of the stage only. */
static void test_nothing_starts_at_the_end_of_a_closed_stage(void **state)
{
	struct setup s = {0};
	(void)state;
	for (int64_t at = 99; at <= 100; at++) {
		s = (struct setup){0};
		add_stage(&s, 0, 100, 1)->arrivals = 2;
		s.stages[0].closed = true;
		begin(&s);
		add(&s, 0, 0, -1, -1);
		add(&s, 0, 10, -1, -1);
		struct dispatch_start a = expect(&s, 0, 0);
		expect_none(&s, 20);
		dispatch_ended(s.d, a.ticket, 99 * MS);
		if (at == 99) {
			struct dispatch_start b = expect(&s, at, 1);
			assert_int_equal(b.slot_ns, 99 * MS);
			dispatch_ended(s.d, b.ticket, 120 * MS);
		} else {
			expect_none(&s, at);
			assert_int_equal((int *)dispatch_dropped(s.d) - s.marks, 1);
			assert_null(dispatch_dropped(s.d));
		}
		finish(&s);
	}
}

/* The sender hears late of an end before the arrival was due. */
static void test_a_slot_free_before_the_due_time_does_not_delay(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, 100, 1)->arrivals = 2;
	s.stages[0].closed = true;
	begin(&s);
	add(&s, 0, 0, -1, -1);
	add(&s, 0, 50, -1, -1);
	struct dispatch_start a = expect(&s, 0, 0);
	expect_none(&s, 60);
	dispatch_ended(s.d, a.ticket, 40 * MS);
	assert_wakes(&s, 50);
	struct dispatch_start b = expect(&s, 60, 1);
	assert_int_equal(b.ready_ns, 50 * MS);
	assert_int_equal(b.slot_ns, IPF_ABSENT);
	dispatch_ended(s.d, b.ticket, 70 * MS);
	finish(&s);
}

/* The follower of the first stage thinks while the second one, which has no fixed end, is over. */
static void test_a_cold_stage_waits_for_all_stages_before_it(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, 100, -1)->arrivals = 2;
	add_stage(&s, 100, -1, -1)->arrivals = 1;
	struct schedule_stage *cold = add_stage(&s, 100, 200, -1);
	cold->arrivals = 1;
	cold->cold = true;
	begin(&s);
	add(&s, 0, 0, -1, -1);
	add(&s, 0, -1, 0, 150);
	add(&s, 1, 100, -1, -1);
	add(&s, 2, 100, -1, -1);
	struct dispatch_start a = expect(&s, 0, 0);
	dispatch_ended(s.d, a.ticket, 50 * MS);
	struct dispatch_start b = expect(&s, 100, 2);
	dispatch_ended(s.d, b.ticket, 110 * MS);
	expect_none(&s, 110);
	assert_int_equal(dispatch_gate(s.d), -1);
	struct dispatch_start c = expect(&s, 200, 1);
	expect_none(&s, 200);
	assert_int_equal(dispatch_gate(s.d), -1);
	dispatch_ended(s.d, c.ticket, 210 * MS);
	expect_none(&s, 210);
	assert_int_equal(dispatch_gate(s.d), 2);
	dispatch_open_gate(s.d, 220 * MS);
	struct dispatch_start d = expect(&s, 220, 3);
	dispatch_ended(s.d, d.ticket, 230 * MS);
	finish(&s);
}

static void test_time_goes_on_after_a_cold_stage(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, -1, -1)->arrivals = 1;
	struct schedule_stage *cold = add_stage(&s, 0, 100, -1);
	cold->arrivals = 1;
	cold->cold = cold->drain = true;
	add_stage(&s, 100, 200, -1)->arrivals = 1;
	begin(&s);
	add(&s, 0, 0, -1, -1);
	add(&s, 1, 0, -1, -1);
	add(&s, 2, 100, -1, -1);
	struct dispatch_start a = expect(&s, 0, 0);
	dispatch_ended(s.d, a.ticket, 5 * MS);
	expect_none(&s, 5);
	dispatch_open_gate(s.d, 20 * MS);
	struct dispatch_start b = expect(&s, 20, 1);
	dispatch_ended(s.d, b.ticket, 30 * MS);
	expect_none(&s, 30);
	assert_wakes(&s, 120); /* nothing is left to do in the stage, which lasts until then */
	struct dispatch_start c = expect(&s, 120, 2);
	assert_int_equal(c.due_ns, 120 * MS);
	dispatch_ended(s.d, c.ticket, 130 * MS);
	finish(&s);
}

/* Three users in all, of three clients or of one, arrive at 0, 30 and 60. */
static void test_users_of_several_clients_take_turns(void **state)
{
	(void)state;
	for (int64_t shard = 0; shard <= 3; shard++) {
		struct setup s = {0};
		const int64_t users = shard ? 1 : 3;
		add_stage(&s, 0, 100, users)->arrivals = users;
		s.stages[0].closed = true;
		s.stages[0].rampup_ns = 90 * MS;
		s.plan.shard = shard;
		s.plan.shards = shard ? 3 : 0;
		begin(&s);
		for (int64_t i = 0; i < users; i++)
			add(&s, 0, -1, -1, -1);
		for (int64_t i = 0; i < users; i++) {
			const int64_t at = 30 * (shard ? shard - 1 : i);
			expect_none(&s, at - 1);
			struct dispatch_start a = expect(&s, at, i);
			assert_int_equal(a.ready_ns, at * MS);
			dispatch_ended(s.d, a.ticket, 95 * MS);
		}
		finish(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arrivals_start_when_due),
		cmocka_unit_test(test_slots_are_given_first_come_first_served),
		cmocka_unit_test(test_followers_wait_for_all_they_name),
		cmocka_unit_test(test_followers_are_announced),
		cmocka_unit_test(test_a_closed_stage_keeps_its_slots_busy),
		cmocka_unit_test(test_a_follower_goes_before_new_sessions),
		cmocka_unit_test(test_a_stage_of_requests_moves_what_follows),
		cmocka_unit_test(test_a_first_stage_goes_before_the_start),
		cmocka_unit_test(test_a_late_first_stage_moves_nothing),
		cmocka_unit_test(test_a_cycle_stage_ends_on_time),
		cmocka_unit_test(test_stopping_drops_what_has_not_started),
		cmocka_unit_test(test_stopping_drops_an_arrival_with_a_slot),
		cmocka_unit_test(test_a_cut_schedule_ends),
		cmocka_unit_test(test_senseless_stages_are_refused),
		cmocka_unit_test(test_it_looks_ahead_and_not_too_far),
		cmocka_unit_test(test_whole_schedules),
		cmocka_unit_test(test_times_that_can_be),
		cmocka_unit_test(test_the_dispatcher_looks_a_second_ahead),
		cmocka_unit_test(test_the_end_of_a_closed_stage),
		cmocka_unit_test(test_threads_are_proposed),
		cmocka_unit_test(test_a_cold_stage_waits_for_the_caller),
		cmocka_unit_test(test_a_stopped_run_has_no_gate),
		cmocka_unit_test(test_arrivals_dropped_at_the_end_of_a_stage_are_not_ahead),
		cmocka_unit_test(test_followers_are_not_ahead),
		cmocka_unit_test(test_a_stage_that_has_not_begun_has_no_times),
		cmocka_unit_test(test_a_cycle_forgets_old_rounds),
		cmocka_unit_test(test_a_cycle_without_requests_is_not_done_before_its_end),
		cmocka_unit_test(test_a_follower_of_a_dropped_arrival_is_dropped),
		cmocka_unit_test(test_nothing_starts_at_the_end_of_a_closed_stage),
		cmocka_unit_test(test_a_slot_free_before_the_due_time_does_not_delay),
		cmocka_unit_test(test_a_cold_stage_waits_for_all_stages_before_it),
		cmocka_unit_test(test_a_stage_of_sessions_counts_those_cut_at_its_end),
		cmocka_unit_test(test_the_next_session_ends_the_one_before),
		cmocka_unit_test(test_time_goes_on_after_a_cold_stage),
		cmocka_unit_test(test_users_of_several_clients_take_turns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
