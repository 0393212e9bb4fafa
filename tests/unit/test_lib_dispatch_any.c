/* Any schedule: stages of all kinds with random arrivals are carried out against a clock and requests made up, and
 * every start is compared with the schedule. */
#include "unit.h"

#include "absent.h"
#include "dispatch/dispatch.h"

#include <stdbool.h>

enum { MOST = 400, STAGES = 6 };

struct one {
	struct schedule_arrival a;
	int64_t head; /* n of its session's first */
	int64_t parents[3];
	bool added, announced, started, ended, dropped;
	int64_t start, end;
	struct dispatch_start given;
};

struct world {
	struct schedule_stage stages[STAGES];
	struct schedule plan;
	struct one all[MOST];
	int64_t count, next; /* all arrivals'; next to add in lane 0 */
	int64_t lane_next[STAGES], in_flight[STAGES], last_ready[STAGES], last_n[STAGES], last_start[STAGES],
		last_end[STAGES];
	int64_t now;
	uint64_t random;
	int index;
};

static int64_t below(struct world *w, int64_t bound)
{
	return (int64_t)(test_random(&w->random) % (uint64_t)bound);
}

/* Nothing has been started or has ended yet. */
static void forget_what_was_seen(struct world *w)
{
	for (size_t i = 0; i < STAGES; i++) {
		w->last_ready[i] = w->last_n[i] = w->last_start[i] = w->last_end[i] = -1;
		w->lane_next[i] = i < w->plan.count ? w->stages[i].first_n : 0;
	}
}

/* Stages of any kind in sequence; a cycle stage's rounds are written out, as far as they may be needed. */
static void make_world(struct world *w)
{
	int64_t begin = 0, n = 0;
	w->plan.stages = w->stages;
	w->plan.count = (size_t)(1 + below(w, STAGES));
	for (size_t i = 0; i < w->plan.count; i++) {
		struct schedule_stage *s = &w->stages[i];
		int64_t kind = below(w, 5), lines = below(w, 20), length = 1 + below(w, 200), rounds = 1, at = begin, head = n;
		bool thinks = false;
		*s = (struct schedule_stage){.begin_ns = begin,
		                             .end_ns = kind == 1 || kind == 2 ? IPF_ABSENT : begin + length,
		                             .slots = kind >= 2 || below(w, 2) ? 1 + below(w, 4) : IPF_ABSENT,
		                             .closed = kind == 2 || kind == 3,
		                             .cycle = kind == 3,
		                             .arrivals = lines,
		                             .first_n = n,
		                             .measured = true};
		if (s->closed && below(w, 2)) {
			s->rampup_ns = below(w, 2) * below(w, 60);
			s->pace_ns = below(w, 2) * below(w, 40);
			s->sessions = below(w, 2);
			thinks = below(w, 2);
		}
		s->drain = s->end_ns != IPF_ABSENT && below(w, 4) == 0;
		s->overlap = s->end_ns == IPF_ABSENT && below(w, 3) == 0;
		if (s->cycle)
			rounds = lines ? 50 / (lines + 1) + 1 : 0;
		int64_t first = n;
		for (int64_t k = 0; k < lines * rounds && w->count < MOST; k++, n++) {
			struct one *x = &w->all[w->count++];
			x->a = (struct schedule_arrival){
				.n = n, .req = n, .stage = (int64_t)i, .at_ns = IPF_ABSENT, .wait_ns = IPF_ABSENT, .after = x->parents};
			int64_t in_round = k % lines, base = n - in_round;
			bool follows = in_round && below(w, 2);
			head = follows ? head : n;
			x->head = head;
			if (s->sessions) /* whose requests stand together */
				base = head;
			if (thinks && !follows)
				x->a.wait_ns = below(w, 30);
			if (follows) {
				x->a.after_count = (size_t)(1 + below(w, 3));
				for (size_t p = 0; p < x->a.after_count; p++)
					x->parents[p] = base + below(w, n - base);
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
	forget_what_was_seen(w);
}

/* A follower is announced once: when all it waits for have started, or wait for such only. */
static void take_upcoming(struct world *w, struct dispatch *d)
{
	for (struct one *x; (x = dispatch_upcoming(d));) {
		assert_true(x->added && !x->announced && !x->dropped && x->a.after_count > 0);
		x->announced = true;
		for (size_t i = 0; i < x->a.after_count; i++) {
			const struct one *parent = &w->all[x->parents[i]];
			for (size_t k = 0; k < parent->a.after_count; k++)
				assert_true(w->all[parent->parents[k]].started);
			assert_true(parent->started || parent->a.after_count > 0);
		}
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
	take_upcoming(w, d);
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

/* Sessions of the stage that have begun and not ended, other than the one of `x`. */
static int64_t sessions_in_flight(const struct world *w, const struct one *x)
{
	int64_t count = 0, last = -1;
	for (int64_t i = w->stages[x->a.stage].first_n; i < w->count && w->all[i].a.stage == x->a.stage; i++) {
		const struct one *y = &w->all[i];
		if (y->head == x->head || y->head == last || !w->all[y->head].started || y->ended || y->dropped)
			continue;
		last = y->head;
		count++;
	}
	return count;
}

/* A stage's users or slots: never more at once, each with its pauses; those of closed stages that follow one another
 * are the same. */
static void check_users(const struct world *w, const struct one *x, int64_t begin)
{
	const struct schedule_stage *stage = &w->stages[x->a.stage];
	if (stage->sessions) {
		assert_true(sessions_in_flight(w, x) < stage->slots);
	} else if (stage->slots != IPF_ABSENT) {
		assert_true(w->in_flight[x->a.stage] < stage->slots);
	}
	int64_t most = 0, now = 0;
	for (int64_t i = x->a.stage; i >= 0 && stage->closed && w->stages[i].closed && !w->stages[i].sessions; i--) {
		most = w->stages[i].slots > most ? w->stages[i].slots : most;
		now += w->in_flight[i];
	}
	assert_true(now <= most);
	bool alone = stage->closed && !stage->sessions && (x->a.stage == 0 || !stage[-1].closed);
	if (alone && stage->slots == 1 && w->last_start[x->a.stage] >= 0) {
		assert_true(w->now >= w->last_start[x->a.stage] + stage->pace_ns);
		if (!x->a.after_count && x->a.wait_ns != IPF_ABSENT)
			assert_true(w->now >= w->last_end[x->a.stage] + x->a.wait_ns);
	}
	if (alone && stage->rampup_ns) /* as many as have come */
		assert_true(w->in_flight[x->a.stage] * stage->rampup_ns <= (w->now - begin + 1) * stage->slots);
}

/* A stage's conditions before it begins are met. */
static void check_stages_before(const struct world *w, const struct one *x)
{
	if (w->last_start[x->a.stage] >= 0)
		return;
	for (int64_t i = 0; i < w->count && w->all[i].a.stage < x->a.stage; i++) {
		const struct one *y = &w->all[i];
		const struct schedule_stage *stage = &w->stages[y->a.stage];
		if (stage->drain || (stage->end_ns == IPF_ABSENT && !stage->overlap))
			assert_true(y->ended || !y->started);
		if (stage->overlap)
			assert_true(y->started);
	}
}

static void check_start(struct world *w, struct dispatch *d, const struct dispatch_start *s)
{
	struct one *x = s->data;
	struct schedule_stage *stage = &w->stages[x->a.stage];
	int64_t begin, end;
	assert_true(x->added && !x->started && !x->dropped);
	assert_true(x->announced == (x->a.after_count > 0));
	x->started = true;
	x->start = w->now;
	x->given = *s;
	dispatch_stage_times(d, x->a.stage, &begin, &end);
	assert_int_not_equal(begin, IPF_ABSENT);
	assert_true(w->now >= begin);
	assert_true(!stage->closed || stage->end_ns == IPF_ABSENT || w->now < end);
	check_users(w, x, begin);
	check_stages_before(w, x);
	w->in_flight[x->a.stage]++;
	w->last_start[x->a.stage] = w->now;

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
	if ((s->slot_ns == IPF_ABSENT ? s->ready_ns : s->slot_ns) != w->now)
		fail_msg("world %d: n %lld of stage %lld is ready at %lld, slot %lld, started at %lld", w->index,
		         (long long)x->a.n, (long long)x->a.stage, (long long)s->ready_ns, (long long)s->slot_ns,
		         (long long)w->now);
	/* first come, first served; a closed stage's new sessions stand back, and are in order among themselves */
	if (s->slot_ns != IPF_ABSENT && x->a.at_ns != IPF_ABSENT) {
		assert_true(s->ready_ns >= w->last_ready[x->a.stage]);
		w->last_ready[x->a.stage] = s->ready_ns;
	}
	bool in_order = !stage->rampup_ns && !stage->pace_ns && x->a.wait_ns == IPF_ABSENT &&
	                (x->a.stage == 0 || !stage[-1].closed);
	if (stage->closed && !x->a.after_count && in_order) {
		assert_true(x->a.n > w->last_n[x->a.stage]);
		w->last_n[x->a.stage] = x->a.n;
	}
}

static bool take_dropped(struct dispatch *d)
{
	bool some = false;
	for (struct one *x; (x = dispatch_dropped(d)); some = true) {
		assert_true(x->added && !x->started && !x->dropped);
		x->dropped = true;
	}
	return some;
}

static void start_all(struct world *w, struct dispatch *d)
{
	struct dispatch_start s;
	/* a session may have ended with dropped arrivals, and its user be free */
	for (bool some = true; some;) {
		take_dropped(d);
		add_wanted(w, d);
		some = dispatch_next(d, w->now, &s);
		if (some) {
			check_start(w, d, &s);
			take_upcoming(w, d);
			((struct one *)s.data)->end = w->now + below(w, 40);
		}
		some |= take_dropped(d);
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
	w->last_end[first->a.stage] = first->end;
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
	int64_t started = 0, added = 0;
	for (int64_t i = 0; i < w->count; i++) {
		const struct one *x = &w->all[i];
		const struct schedule_stage *s = &w->stages[x->a.stage];
		started += x->started;
		added += x->added;
		assert_true(x->started == x->ended);
		assert_false(x->started && x->dropped);
		if (x->added)
			assert_true(x->started || x->dropped);
		if (!stopped && !(s->closed && s->end_ns != IPF_ABSENT))
			assert_true(x->started);
		if (!stopped && !s->cycle)
			assert_true(x->added);
	}
	assert_true(dispatch_due(d) >= started && dispatch_due(d) <= added); /* each at most once */
	dispatch_free(d);
}

static void test_any_schedule_is_carried_out(void **state)
{
	uint64_t seed = test_seed(__func__);
	static struct world w;
	(void)state;
	for (int i = 0; i < 3000; i++) {
		w = (struct world){.random = seed + (uint64_t)i, .index = i};
		make_world(&w);
		run_world(&w, i % 4 ? INT64_MAX : below(&w, 500));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_schedule_is_carried_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
