#include "unit.h"

#include "clock.h"
#include "dispatch.h"

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
	*stage = (struct schedule_stage){.begin_ns = begin_ms * MS, .end_ns = end_ms < 0 ? IPF_ABSENT : end_ms * MS,
	                                 .slots = slots < 0 ? IPF_ABSENT : slots, .measured = true};
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
	struct schedule_arrival a = {.n = s->n, .req = s->n, .stage = stage, .at_ns = at_ms < 0 ? IPF_ABSENT : at_ms * MS,
	                             .after = &after, .after_count = after >= 0, .wait_ns = wait_ms < 0 ? IPF_ABSENT : wait_ms * MS};
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
	struct schedule_arrival join = {.n = 2, .stage = 0, .at_ns = IPF_ABSENT, .after = both, .after_count = 2, .wait_ns = 5 * MS};
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
	assert_true(dispatch_stage_over(s.d, 0));
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
	dispatch_stop(s.d);
	expect_none(&s, 60);
	assert_wakes(&s, -1);
	assert_int_equal(dispatch_waiting(s.d), 0);
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
	struct schedule_arrival a = {.n = 9, .stage = 0, .at_ns = IPF_ABSENT, .after = mixed, .after_count = 2, .wait_ns = IPF_ABSENT};
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

/* ---- any schedule ---- */

enum { MOST = 400, STAGES = 6 };

struct one {
	struct schedule_arrival a;
	int64_t parents[3];
	bool added, started, ended, dropped;
	int64_t start, end;
	struct dispatch_start given;
};

struct world {
	struct schedule_stage stages[STAGES];
	struct schedule plan;
	struct one all[MOST];
	int64_t count, next; /* of all; next to add in lane 0 */
	int64_t lane_next[STAGES], in_flight[STAGES], last_ready[STAGES], last_n[STAGES];
	int64_t now;
	uint64_t random;
};

static int64_t below(struct world *w, int64_t bound)
{
	return (int64_t)(test_random(&w->random) % (uint64_t)bound);
}

/* Stages of any kind in sequence; a cycle stage's rounds are written out, as far as they may be needed. */
static void make_world(struct world *w)
{
	int64_t begin = 0, n = 0;
	w->plan.stages = w->stages;
	w->plan.count = (size_t)(1 + below(w, STAGES));
	for (size_t i = 0; i < w->plan.count; i++) {
		struct schedule_stage *s = &w->stages[i];
		int64_t kind = below(w, 5), lines = below(w, 20), length = 1 + below(w, 200), rounds = 1, at = begin;
		*s = (struct schedule_stage){.begin_ns = begin, .end_ns = kind == 1 || kind == 2 ? IPF_ABSENT : begin + length,
		                             .slots = kind >= 2 || below(w, 2) ? 1 + below(w, 4) : IPF_ABSENT, .closed = kind == 2 || kind == 3,
		                             .cycle = kind == 3, .arrivals = lines, .first_n = n, .measured = true};
		if (s->cycle)
			rounds = lines ? 50 / (lines + 1) + 1 : 0;
		int64_t first = n;
		for (int64_t k = 0; k < lines * rounds && w->count < MOST; k++, n++) {
			struct one *x = &w->all[w->count++];
			x->a = (struct schedule_arrival){.n = n, .req = n, .stage = (int64_t)i, .at_ns = IPF_ABSENT, .wait_ns = IPF_ABSENT,
			                                 .after = x->parents};
			int64_t in_round = k % lines, base = n - in_round;
			if (in_round && below(w, 2)) {
				x->a.after_count = (size_t)(1 + below(w, 3));
				for (size_t p = 0; p < x->a.after_count; p++)
					x->parents[p] = base + below(w, in_round);
				x->a.wait_ns = below(w, 3) ? below(w, 30) : IPF_ABSENT;
			}
			if (!s->closed && (!x->a.after_count || below(w, 4) == 0)) {
				at += s->end_ns == IPF_ABSENT ? 0 : below(w, 2 * length / (lines + 1) + 1);
				x->a.at_ns = at;
			}
		}
		if (s->cycle && n - first < lines)
			s->arrivals = n - first; /* the table is full */
		if (!s->cycle)
			s->arrivals = n - first;
		if (s->end_ns != IPF_ABSENT)
			begin = s->end_ns;
	}
	for (size_t i = 0; i < STAGES; i++) {
		w->last_ready[i] = w->last_n[i] = -1;
		w->lane_next[i] = i < w->plan.count ? w->stages[i].first_n : 0;
	}
}

/* The n of all[] are its indices: adding goes through them, cycle stages apart. */
static bool add_next(struct world *w, struct dispatch *d, int64_t lane)
{
	struct ipf_error err = {0};
	int64_t *next = lane < 0 ? &w->next : &w->lane_next[lane];
	while (lane < 0 && *next < w->count && w->stages[w->all[*next].a.stage].cycle)
		(*next)++;
	if (*next >= w->count || (lane >= 0 && w->all[*next].a.stage != lane))
		return false;
	struct one *x = &w->all[(*next)++];
	assert_int_equal(dispatch_add(d, &x->a, x, &err), 0);
	x->added = true;
	return true;
}

static void add_wanted(struct world *w, struct dispatch *d)
{
	for (size_t i = 0; i < w->plan.count; i++)
		while (w->stages[i].cycle && dispatch_wants(d, (int64_t)i, w->now) && add_next(w, d, (int64_t)i))
			;
	while (dispatch_wants(d, -1, w->now))
		if (!add_next(w, d, -1)) {
			dispatch_finish(d);
			break;
		}
}

static void check_start(struct world *w, struct dispatch *d, const struct dispatch_start *s)
{
	struct one *x = s->data;
	struct schedule_stage *stage = &w->stages[x->a.stage];
	int64_t begin, end;
	assert_true(x->added && !x->started && !x->dropped);
	x->started = true;
	x->start = w->now;
	x->given = *s;
	dispatch_stage_times(d, x->a.stage, &begin, &end);
	assert_int_not_equal(begin, IPF_ABSENT);
	assert_true(w->now >= begin);
	assert_true(!stage->closed || stage->end_ns == IPF_ABSENT || w->now < end);
	if (stage->slots != IPF_ABSENT)
		assert_true(w->in_flight[x->a.stage] < stage->slots);
	w->in_flight[x->a.stage]++;

	int64_t due = x->a.at_ns == IPF_ABSENT ? INT64_MIN : x->a.at_ns - stage->begin_ns + begin;
	for (size_t i = 0; i < x->a.after_count; i++) {
		const struct one *parent = &w->all[x->parents[i]];
		assert_true(parent->ended);
		int64_t after = parent->end + (x->a.wait_ns == IPF_ABSENT ? 0 : x->a.wait_ns);
		due = after > due ? after : due;
	}
	if (stage->closed)
		assert_int_equal(s->due_ns, IPF_ABSENT);
	else
		assert_int_equal(s->due_ns, due);
	if (due != INT64_MIN)
		assert_int_equal(s->ready_ns, due);
	/* nothing but time and slots holds it back, and this clock stands still while it works */
	assert_true(s->ready_ns <= w->now);
	assert_int_equal(s->slot_ns == IPF_ABSENT ? s->ready_ns : s->slot_ns, w->now);
	/* first come, first served; a closed stage's new sessions stand back, and are in order among themselves */
	if (s->slot_ns != IPF_ABSENT && x->a.at_ns != IPF_ABSENT) {
		assert_true(s->ready_ns >= w->last_ready[x->a.stage]);
		w->last_ready[x->a.stage] = s->ready_ns;
	}
	if (stage->closed && !x->a.after_count) {
		assert_true(x->a.n > w->last_n[x->a.stage]);
		w->last_n[x->a.stage] = x->a.n;
	}
}

static void start_all(struct world *w, struct dispatch *d)
{
	struct dispatch_start s;
	for (struct one *x;;) {
		add_wanted(w, d);
		bool some = dispatch_next(d, w->now, &s);
		if (some) {
			check_start(w, d, &s);
			((struct one *)s.data)->end = w->now + below(w, 40);
		}
		while ((x = dispatch_dropped(d))) {
			assert_true(x->added && !x->started && !x->dropped);
			x->dropped = true;
		}
		if (!some)
			return;
	}
}

static int64_t end_one(struct world *w, struct dispatch *d, bool really)
{
	struct one *first = NULL;
	for (int64_t i = 0; i < w->count; i++)
		if (w->all[i].started && !w->all[i].ended && (!first || w->all[i].end < first->end))
			first = &w->all[i];
	if (!first || !really)
		return first ? first->end : INT64_MAX;
	first->ended = true;
	w->in_flight[first->a.stage]--;
	dispatch_ended(d, first->given.ticket, first->end);
	return first->end;
}

static void run_world(struct world *w, int64_t stop_at)
{
	struct dispatch *d = dispatch_new(&w->plan);
	assert_non_null(d);
	bool stopped = false;
	for (w->now = -3; start_all(w, d), !dispatch_done(d);) {
		int64_t wake = dispatch_wake(d), end = end_one(w, d, false), next = wake < end ? wake : end;
		assert_int_not_equal(next, INT64_MAX); /* it hangs */
		assert_true(next >= w->now);
		if (!stopped && next >= stop_at) {
			w->now = stop_at;
			stopped = true;
			dispatch_stop(d);
			continue;
		}
		w->now = next;
		if (end <= wake)
			end_one(w, d, true);
	}
	assert_int_equal(dispatch_in_flight(d), 0);
	assert_int_equal(dispatch_waiting(d), 0);
	for (int64_t i = 0; i < w->count; i++) {
		const struct one *x = &w->all[i];
		const struct schedule_stage *s = &w->stages[x->a.stage];
		assert_true(x->started == x->ended);
		assert_false(x->started && x->dropped);
		if (x->added)
			assert_true(x->started || x->dropped);
		if (!stopped && !(s->closed && s->end_ns != IPF_ABSENT))
			assert_true(x->started);
		if (!stopped && !s->cycle)
			assert_true(x->added);
	}
	dispatch_free(d);
}

static void test_any_schedule_is_carried_out(void **state)
{
	uint64_t seed = test_seed(__func__);
	static struct world w;
	(void)state;
	for (int i = 0; i < 3000; i++) {
		w = (struct world){.random = seed + (uint64_t)i};
		make_world(&w);
		run_world(&w, i % 4 ? INT64_MAX : below(&w, 500));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arrivals_start_when_due),
		cmocka_unit_test(test_slots_are_given_first_come_first_served),
		cmocka_unit_test(test_followers_wait_for_all_they_name),
		cmocka_unit_test(test_a_closed_stage_keeps_its_slots_busy),
		cmocka_unit_test(test_a_follower_goes_before_new_sessions),
		cmocka_unit_test(test_a_stage_of_requests_moves_what_follows),
		cmocka_unit_test(test_a_cycle_stage_ends_on_time),
		cmocka_unit_test(test_stopping_drops_what_has_not_started),
		cmocka_unit_test(test_a_cut_schedule_ends),
		cmocka_unit_test(test_what_makes_no_sense_is_refused),
		cmocka_unit_test(test_it_looks_ahead_and_not_too_far),
		cmocka_unit_test(test_any_schedule_is_carried_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
