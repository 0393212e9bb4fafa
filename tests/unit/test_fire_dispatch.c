#include "unit.h"

#include "absent.h"
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

static void test_a_cut_schedule_ends(void **state)
{
	struct setup s = {0};
	(void)state;
	add_stage(&s, 0, -1, -1)->arrivals = 1000; /* of which one is there */
	add_stage(&s, 0, 100, -1)->arrivals = 5;   /* and none of these */
	begin(&s);
	add(&s, 0, 0, -1, -1);
	struct dispatch_start a = expect(&s, 0, 0);
	dispatch_ended(s.d, a.ticket, 3 * MS);
	expect_none(&s, 3);
	finish(&s);
}

static void test_what_makes_no_sense_is_refused(void **state)
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
		cmocka_unit_test(test_a_cycle_stage_ends_on_time),
		cmocka_unit_test(test_stopping_drops_what_has_not_started),
		cmocka_unit_test(test_a_cut_schedule_ends),
		cmocka_unit_test(test_what_makes_no_sense_is_refused),
		cmocka_unit_test(test_it_looks_ahead_and_not_too_far),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
