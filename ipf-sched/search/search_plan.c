#include "search/search_plan.h"

#include "absent.h"
#include "clock.h"
#include "stats/exact_math.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define FIRST_REQUESTS 5  /* in the first short stage */
#define BRIEF_PART     60 /* a short stage takes this part of the time … */
#define BRIEF_LEAST_NS NS_PER_S
#define BRIEF_MOST_NS  (10 * NS_PER_S)
#define BRIEF_REQUESTS 8    /* … but as many requests as this, if they fit into a twelfth of it */
#define BRIEF_EXCESS   1.25 /* the load a short stage met is beyond the longer ones' by up to this much */
#define BRIEF_WRONG    0.05 /* the share of short stages that met the goals nevertheless beyond the answer … */
#define BRIEF_MISSED   0.02 /* … and that missed them below it */
#define NARROW         1.5  /* short stages narrow the bracket to this ratio */
#define LIMITS_LONG    10   /* a stage lasts at least as many times the limit: a queue of 10 % too much shows */
#define LONG_STAGES    5    /* as many long stages as these share the time, if they can */
#define WARMUP_PART    3    /* the part of a stage's measured time going before it */
#define WARMUP_MOST_NS (10 * NS_PER_S)
#define OVERHEAD_NS    (NS_PER_S) /* a stage's, to start and to end the programs */
#define LEFT_OUT_MOST  4          /* stages that do not count, before the search ends */

static bool counts(const struct search_trial *t)
{
	return t->left_out == TRIAL_COUNTS;
}

/* ---- results of the stages so far ------------------------------------------------------------------------------ */

static double rate_of_stage(const struct earlier_stage *stage)
{
	return stage->length_ns > 0 ? (double)stage->count * NS_PER_S / (double)stage->length_ns : 0;
}

/* Requests a second at a load of a closed loop, from the stage at the nearest load; more users do not mean as many more
 * requests. */
static double closed_rate(const struct search_trials *tried, double load)
{
	const struct search_trial *near = NULL;

	for (size_t i = 0; i < tried->count; i++) {
		const struct search_trial *t = &tried->list[i];
		if (t->stage->length_ns > 0 && (!near || fabs(exact_log(t->load / load)) < fabs(exact_log(near->load / load))))
			near = t;
	}
	return near ? rate_of_stage(near->stage) * fmin(1, load / near->load) : 0;
}

static double rate_at(const struct search_plan *plan, const struct search_trials *tried, double load)
{
	return plan->whole ? closed_rate(tried, load) : load;
}

/* The length of a stage of the first phase. */
static int64_t brief_ns(const struct search_plan *plan, const struct search_trials *tried, double load)
{
	int64_t ns = plan->time_ns / BRIEF_PART;
	double rate = isfinite(load) ? rate_at(plan, tried, load) : 0,
		   wanted = rate > 0 ? BRIEF_REQUESTS * NS_PER_S / rate : 0;

	ns = ns < BRIEF_LEAST_NS ? BRIEF_LEAST_NS : ns > BRIEF_MOST_NS ? BRIEF_MOST_NS : ns;
	return (double)ns >= wanted ? ns : (int64_t)fmin(wanted, (double)plan->time_ns / 12);
}

/* Is this a stage of the second phase? */
static bool is_full(const struct search_plan *plan, const struct search_trials *tried, const struct search_trial *t)
{
	return t->enough && counts(t) &&
	       (plan->time_ns == IPF_ABSENT || t->stage->length_ns > brief_ns(plan, tried, t->load) * 3 / 2);
}

/* Did the queue grow so much that a longer stage would miss the goals? Chance makes queues too, most of all in short
 * stages. */
static bool is_growing(const struct search_plan *plan, const struct search_trials *tried, const struct search_trial *t)
{
	if (!is_full(plan, tried, t))
		return t->excess > 0.2;
	return t->excess > 0.02 && t->excess * (double)t->stage->length_ns > (double)plan->limit_ns / 3;
}

bool search_plan_missed(const struct search_plan *plan, const struct search_trials *tried, const struct search_trial *t)
{
	return t->missed || is_growing(plan, tried, t);
}

struct search_bracket search_plan_bracket(const struct search_plan *plan, const struct search_trials *tried)
{
	struct search_bracket b = {NAN, NAN};

	for (size_t i = 0; i < tried->count; i++)
		if (counts(&tried->list[i]) && search_plan_missed(plan, tried, &tried->list[i]))
			b.high = fmin(b.high, tried->list[i].load);
	for (size_t i = 0; i < tried->count; i++)
		if (counts(&tried->list[i]) && !search_plan_missed(plan, tried, &tried->list[i]) &&
		    !(tried->list[i].load >= b.high))
			b.low = fmax(b.low, tried->list[i].load);
	return b;
}

struct seen {
	double lowest, highest; /* loads */
	double late;            /* the lowest load at which the client was late; INFINITY */
	size_t full, left_out;  /* stages of the second phase, and those that do not count */
	int64_t rest_ns;        /* how long requests went on after a stage that met the goals */
	double alone_ns;        /* the shortest mean time of a request of any stage */
};

static double mean_e2e_ns(const struct earlier_stage *stage)
{
	double sum = 0, n = 0;

	for (size_t i = 0; i < stage->count; i++)
		if (stage->rows[i].ok && stage->rows[i].start_ns != IPF_ABSENT) {
			sum += (double)(stage->rows[i].end_ns - stage->rows[i].start_ns);
			n++;
		}
	return n > 0 ? sum / n : INFINITY;
}

static struct seen look_at(const struct search_plan *plan, const struct search_trials *tried)
{
	struct seen s = {.lowest = INFINITY, .highest = 0, .late = INFINITY, .alone_ns = INFINITY};

	for (size_t i = 0; i < tried->count; i++) {
		const struct search_trial *t = &tried->list[i];
		s.lowest = fmin(s.lowest, t->load);
		s.highest = fmax(s.highest, t->load);
		s.full += is_full(plan, tried, t);
		s.left_out += !counts(t);
		if (t->left_out == TRIAL_LATE)
			s.late = fmin(s.late, t->load);
		if (!t->missed && t->stage->rest_ns > s.rest_ns)
			s.rest_ns = t->stage->rest_ns;
		s.alone_ns = fmin(s.alone_ns, mean_e2e_ns(t->stage));
	}
	return s;
}

/* ---- the first phase: short stages ------------------------------------------------------------------------------- */

/* Four times the load, as long as requests take about as long as they do alone; else twice. */
static double next_up(const struct search_trials *tried, const struct seen *seen, double load)
{
	for (size_t i = 0; i < tried->count; i++)
		if (tried->list[i].load == load && mean_e2e_ns(tried->list[i].stage) < 1.3 * seen->alone_ns)
			return 4 * load;
	return 2 * load;
}

/* A load at which a short stage has some requests, unless the bounds say where to begin. */
static double first_load(const struct search_plan *plan)
{
	double some = plan->whole ? 1 : FIRST_REQUESTS * NS_PER_S / (double)brief_ns(plan, NULL, INFINITY);

	return isnan(plan->low) ? fmin(fmax(1, some), plan->high) : plan->low;
}

/* The load of the next short stage; NAN: the bracket is narrow enough, or the bounds have been reached. */
static double brief_load(const struct search_plan *plan, const struct search_trials *tried, const struct seen *seen)
{
	struct search_bracket b = search_plan_bracket(plan, tried);
	double top = fmin(plan->high, seen->late);

	if (tried->count == 0)
		return first_load(plan);
	if (isnan(b.high) && isnan(b.low))
		return seen->lowest;
	if (isnan(b.high))
		return b.low >= top ? NAN : fmin(next_up(tried, seen, b.low), top);
	if (isnan(b.low))
		return b.high <= plan->low || (plan->whole && b.high <= 1) ? NAN
		                                                           : fmax(b.high / 4, fmax(plan->low, plan->whole));
	return b.high / b.low <= NARROW || (plan->whole && b.high - b.low <= 1) ? NAN : sqrt(b.low * b.high);
}

/* Requests running alone missed the goals, and so will those of any load. */
static bool missed_alone(const struct search_trials *tried, const struct seen *seen)
{
	for (size_t i = 0; i < tried->count; i++) {
		const struct search_trial *t = &tried->list[i];
		if (t->load == seen->lowest && counts(t) && t->missed && !t->failing && t->stage->count > 2 &&
		    rate_of_stage(t->stage) * mean_e2e_ns(t->stage) < 0.2 * NS_PER_S)
			return true;
	}
	return false;
}

/* ---- the second phase: stages with enough requests --------------------------------------------------------------- */

/* The time of as many requests as the percentiles need; INFINITY. The number of arrivals in a given time is random. */
static double requests_ns(const struct search_plan *plan, const struct search_trials *tried, double load)
{
	double needed = (double)tried->needed, rate = rate_at(plan, tried, load);

	return rate > 0 ? (needed + 2 * sqrt(needed)) / rate * NS_PER_S : INFINITY;
}

/* The measured time of a stage for these requests, and for a queue to show; INT64_MAX: no stage is long enough. */
static int64_t full_ns(const struct search_plan *plan, const struct search_trials *tried, double load)
{
	double ns = requests_ns(plan, tried, load);

	if (plan->time_ns != IPF_ABSENT)
		ns = fmax(ns, fmax(LIMITS_LONG * (double)plan->limit_ns, 2 * (double)brief_ns(plan, tried, load)));
	return ns < 9e18 ? (int64_t)ns : INT64_MAX;
}

static int64_t warmup_of(int64_t ns)
{
	return ns / WARMUP_PART < WARMUP_MOST_NS ? ns / WARMUP_PART : WARMUP_MOST_NS;
}

/* The time of a stage until all its requests have ended. A load beyond the limit leaves a queue. */
static double whole_ns(const struct seen *seen, int64_t ns)
{
	return 1.25 * ((double)ns + (double)warmup_of(ns)) + (double)seen->rest_ns + OVERHEAD_NS;
}

static void plan_full(const struct search_plan *plan, const struct search_trials *tried, const struct seen *seen,
                      struct search_step *step)
{
	int64_t least = full_ns(plan, tried, step->load);
	double left = (double)step->left_ns, stages = seen->full + 2 < LONG_STAGES ? LONG_STAGES - (double)seen->full : 2;
	double share = (left / stages - (double)seen->rest_ns - OVERHEAD_NS) / 1.25 * WARMUP_PART / (WARMUP_PART + 1);

	step->by_limit = (double)least > requests_ns(plan, tried, step->load);
	step->needed_ns = least == INT64_MAX ? INT64_MAX : (int64_t)fmin(9e18, whole_ns(seen, least));
	if (whole_ns(seen, least) > left) {
		step->what = seen->full ? SEARCH_ANSWER : SEARCH_TOO_SHORT;
		return;
	}
	step->for_ns = share > (double)least ? (int64_t)share : least;
	step->for_ns -= step->for_ns % (100 * NS_PER_MS);
	step->for_ns = step->for_ns < least ? step->for_ns + 100 * NS_PER_MS : step->for_ns;
	step->warmup_ns = warmup_of(step->for_ns);
}

/* ---- both -------------------------------------------------------------------------------------------------------- */

/* A short stage begins with an idle server and ends before a small excess makes a queue: meeting the goals shows a
 * lower load meets them. */
static struct load_search_trial evidence(const struct search_plan *plan, const struct search_trials *tried,
                                         const struct search_trial *t)
{
	bool missed = search_plan_missed(plan, tried, t);
	double met = missed != t->missed && counts(t) ? BRIEF_MISSED : t->met;

	if (is_full(plan, tried, t) || !counts(t))
		return (struct load_search_trial){t->load, met};
	return (struct load_search_trial){missed ? t->load : t->load / BRIEF_EXCESS,
	                                  fmin(1 - BRIEF_WRONG, fmax(BRIEF_MISSED, met))};
}

static int weigh(const struct search_plan *plan, const struct search_trials *tried, const struct seen *seen,
                 struct load_search_answer *answer, struct ipf_error *err)
{
	struct search_bracket b = search_plan_bracket(plan, tried);
	double above = isnan(b.high) ? 4 * seen->highest : fmax(2 * b.high, seen->highest);
	struct load_search search = {
		.low = isnan(plan->low) ? fmax(plan->whole, seen->lowest / 4) : plan->low,
		.high = isnan(plan->high) ? (plan->whole ? ceil(above) : above) : plan->high,
		.precision = plan->precision,
		.confidence = plan->confidence,
		.whole = plan->whole,
	};
	struct load_search_trial *list = calloc(tried->count + 1, sizeof *list);
	int status;

	if (!list)
		return ipf_error_memory(err);
	if (search.high <= search.low)
		search.high = 2 * search.low;
	for (size_t i = 0; i < tried->count; i++)
		list[i] = evidence(plan, tried, &tried->list[i]);
	status = load_search_next(&search, list, tried->count, answer, err);
	free(list);
	return status;
}

static bool is_known(const struct search_plan *plan, const struct seen *seen, const struct load_search_answer *a)
{
	bool bound = a->where == SEARCH_WITHIN || !isnan(a->where == SEARCH_BELOW ? plan->low : plan->high);

	return a->known && bound && (plan->time_ns == IPF_ABSENT || seen->full > 1);
}

/* With a fixed length. */
static void plan_fixed(const struct search_plan *plan, const struct search_trials *tried, const struct seen *seen,
                       struct search_step *step)
{
	int64_t least = full_ns(plan, tried, step->load);

	if (seen->left_out >= LEFT_OUT_MOST && 2 * seen->left_out >= tried->count)
		step->what = SEARCH_ANSWER;
	step->for_ns = plan->for_ns;
	if (plan->for_ns != IPF_ABSENT && !plan->whole && least > plan->for_ns)
		step->for_ns = least;
}

/* The load of the first long stage: the highest bound, if nothing missed, and none below the short ones' met. */
static double first_full(const struct search_plan *plan, const struct search_trials *tried, double next)
{
	struct search_bracket b = search_plan_bracket(plan, tried);

	if (isnan(b.high) && !isnan(plan->high))
		return plan->high;
	return isnan(b.low) ? next : fmax(next, b.low);
}

static void plan_timed(const struct search_plan *plan, const struct search_trials *tried, const struct seen *seen,
                       struct search_step *step)
{
	double load = seen->full ? NAN : brief_load(plan, tried, seen);

	step->alone = missed_alone(tried, seen);
	if (seen->left_out >= LEFT_OUT_MOST || step->alone) {
		step->what = SEARCH_ANSWER;
		return;
	}
	step->brief = !isnan(load);
	if (!step->brief) {
		step->load = fmin(seen->full ? step->answer.next : first_full(plan, tried, step->answer.next), seen->late);
		plan_full(plan, tried, seen, step);
		return;
	}
	step->load = plan->whole ? fmax(1, round(load)) : load;
	step->for_ns = brief_ns(plan, tried, load);
	step->warmup_ns = plan->whole ? step->for_ns / 2 : 0;
	if (!plan->whole && step->load * (double)step->for_ns < NS_PER_S) { /* no request */
		step->brief = false;
		plan_full(plan, tried, seen, step);
	} else if ((double)(step->for_ns + step->warmup_ns + seen->rest_ns + OVERHEAD_NS) > (double)step->left_ns) {
		step->what = SEARCH_TOO_SHORT;
	}
}

static double four_digits(double load)
{
	char text[32];

	snprintf(text, sizeof text, "%.4g", load);
	return strtod(text, NULL);
}

int search_plan_next(const struct search_plan *plan, const struct search_trials *tried, int64_t spent_ns,
                     struct search_step *step, struct ipf_error *err)
{
	struct seen seen = look_at(plan, tried);

	*step = (struct search_step){.for_ns = IPF_ABSENT, .left_ns = IPF_ABSENT};
	if (plan->time_ns != IPF_ABSENT)
		step->left_ns = plan->time_ns - spent_ns;
	if ((tried->count > 0 || plan->time_ns == IPF_ABSENT) && weigh(plan, tried, &seen, &step->answer, err) < 0)
		return -1;
	step->load = step->answer.next;
	step->weighed = plan->time_ns == IPF_ABSENT || seen.full > 0;
	if (is_known(plan, &seen, &step->answer) || tried->count >= plan->most)
		step->what = SEARCH_ANSWER;
	else if (plan->time_ns == IPF_ABSENT)
		plan_fixed(plan, tried, &seen, step);
	else
		plan_timed(plan, tried, &seen, step);
	step->load = four_digits(step->load);
	return 0;
}
