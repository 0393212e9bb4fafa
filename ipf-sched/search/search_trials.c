#include "search/search_trials.h"

#include "absent.h"
#include "search/load_search.h"
#include "stats/exact_math.h"
#include "stats/samples.h"
#include "verdict/verdict_limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More requests than this share without a figure of streamed responses, and no goal on it can be judged. */
#define NOT_STREAMED_MOST 0.01
/* A cache that had this much more of the prompts than in the first stage has learned them from the search. */
#define WARM_FROM 0.05

/* Answered requests within the limit, or without the figure. */
static double count_within(const struct earlier_stage *stage, const struct search_goal *goal, int64_t limit_ns)
{
	double good = 0;

	for (size_t i = 0; i < stage->count; i++) {
		int64_t value = stage->rows[i].latency_ns[goal->latency];
		good += stage->rows[i].ok && (value == IPF_ABSENT || value <= limit_ns);
	}
	return good;
}

static double count_good(const struct earlier_stage *stage, const struct search_goal *goal)
{
	return count_within(stage, goal, goal->limit_ns);
}

/* How far a request is beyond the goal's limit, as a logarithm. A request failing is far beyond it, and one without the
 * figure far below. */
static double beyond(const struct earlier_request *row, const struct search_goal *goal)
{
	const double far = 5;
	int64_t value = row->latency_ns[goal->latency];

	if (!row->ok)
		return far;
	return value == IPF_ABSENT || value <= 0 ? -far
	                                         : fmax(-far, fmin(far, exact_log((double)value / (double)goal->limit_ns)));
}

/* The goal's percentile of `beyond`, without the requests from `from` to `to`. */
static int percentile_without(const struct earlier_stage *stage, const struct search_goal *goal, size_t from, size_t to,
                              double *percentile, struct ipf_error *err)
{
	struct samples s = {0};

	for (size_t i = 0; i < stage->count; i++)
		if (i < from || i >= to)
			samples_add(&s, beyond(&stage->rows[i], goal));
	if (!s.failed)
		*percentile = samples_percentile(&s, 100 * goal->share);
	samples_release(&s);
	return s.failed ? ipf_error_memory(err) : 0;
}

/* The probability the percentile is within the limit. A jackknife over blocks gives its standard error and its bias:
 * requests following each other wait in the same queue, and a stage may have seen few of the bursts making a high
 * percentile. */
static int probability_of(const struct earlier_stage *stage, const struct search_goal *goal, double whole, double *met,
                          struct ipf_error *err)
{
	enum { BLOCKS = 20 };
	double part, squares = 0, sum = 0;

	for (size_t b = 0; b < BLOCKS; b++) {
		if (percentile_without(stage, goal, stage->count * b / BLOCKS, stage->count * (b + 1) / BLOCKS, &part, err) < 0)
			return -1;
		squares += (part - whole) * (part - whole);
		sum += part - whole;
	}
	*met = search_probability(-(whole - sum * (BLOCKS - 1) / BLOCKS) /
	                          fmax(0.01, sqrt(squares * (BLOCKS - 1) / BLOCKS)));
	return 0;
}

/* The probability the stage met all goals: that of the least likely one, since goals fail together. */
static int probability_met(struct search_trial *trial, const struct search_goals *goals, struct ipf_error *err)
{
	double met, percentile;

	trial->met = 2;
	for (int i = 0; i < goals->count; i++) {
		const struct search_goal *goal = &goals->list[i];
		if (percentile_without(trial->stage, goal, 0, 0, &percentile, err) < 0 ||
		    probability_of(trial->stage, goal, percentile, &met, err) < 0)
			return -1;
		bool missed = percentile > 0;
		if ((missed && !trial->missed) || (missed == trial->missed && met < trial->met))
			trial->goal = i;
		trial->missed |= missed;
		trial->met = fmin(trial->met, met);
	}
	return 0;
}

/* Is every request within half of the limit? Then a percentile beyond it would be of another kind of requests. */
static bool is_far_within(const struct earlier_stage *stage, const struct search_goal *goal)
{
	return count_within(stage, goal, goal->limit_ns / 2) == (double)stage->count;
}

/* A stage with too few requests for a percentile says little, unless many of them are beyond the limit: an overload. */
static double probability_of_few(const struct earlier_stage *stage, const struct search_goals *goals)
{
	double n = (double)stage->count, least = 1;

	if (stage->failed > 2 && (double)stage->failed > VERDICT_ERRORS_INVALID * n)
		return 0;
	for (int i = 0; i < goals->count; i++) {
		double may = 1 - goals->list[i].share, bad = n - count_good(stage, &goals->list[i]);
		if (bad > 2 + 2 * may * n || bad == n)
			return 0;
		double met = fmax(0.5, search_probability((may - bad / n) / sqrt(may * (1 - may) / n)));
		least = fmin(least, is_far_within(stage, &goals->list[i]) ? fmax(met, 0.95) : met);
	}
	return least;
}

/* Would the stage meet the goals without the time by which the client itself was late? */
static bool lateness_decides(const struct earlier_stage *stage, const struct search_goals *goals)
{
	for (int i = 0; i < goals->count; i++) {
		const struct search_goal *goal = &goals->list[i];
		double good = 0;
		for (size_t k = 0; k < stage->count; k++) {
			const struct earlier_request *row = &stage->rows[k];
			int64_t value = row->latency_ns[goal->latency];
			good += row->ok && (value == IPF_ABSENT || value - row->client_lag_ns <= goal->limit_ns);
		}
		if (good < goal->share * (double)stage->count)
			return false;
	}
	return true;
}

/* Sums of the times of the requests starting in a quarter of the stage. */
static struct moments {
	double count, sum, squares;
} times_of_quarter(const struct earlier_stage *stage, int quarter)
{
	struct moments m = {0};

	for (size_t i = 0; i < stage->count; i++) {
		const struct earlier_request *row = &stage->rows[i];
		int64_t at = row->start_ns - (stage->stop_ns - stage->length_ns);
		if (!row->ok || row->start_ns == IPF_ABSENT || at < 0 || at / (stage->length_ns / 4 + 1) != quarter)
			continue;
		double s = (double)(row->end_ns - row->start_ns);
		m.count++;
		m.sum += s;
		m.squares += s * s;
	}
	return m;
}

/* By how much did requests of the last quarter take longer than those of the first, as a part of the time in between?
 * 0: not by more than chance. */
static double excess_of(const struct earlier_stage *stage)
{
	const double errors = 3;

	if (stage->stop_ns == IPF_ABSENT || stage->length_ns <= 0)
		return 0;
	struct moments a = times_of_quarter(stage, 0), b = times_of_quarter(stage, 3);
	if (a.count < 2 || b.count < 2)
		return 0;
	double more = b.sum / b.count - a.sum / a.count;
	double variance = (a.squares - a.sum * a.sum / a.count) / (a.count * (a.count - 1)) +
	                  (b.squares - b.sum * b.sum / b.count) / (b.count * (b.count - 1));
	return more > errors * sqrt(fmax(0, variance)) ? more / (0.75 * (double)stage->length_ns) : 0;
}

/* Did the stage miss the goals because requests failed: would the others meet them, or is the run INVALID by its
 * failures (verdict_limits.h)? */
static bool failures_decide(const struct earlier_stage *stage, const struct search_goals *goals)
{
	double answered = (double)(stage->count - stage->failed);

	if ((double)stage->failed > VERDICT_ERRORS_INVALID * (double)stage->count)
		return true;
	for (int i = 0; i < goals->count; i++)
		if (count_good(stage, &goals->list[i]) < goals->list[i].share * answered)
			return false;
	return stage->failed > 0;
}

static double cached_share(const struct earlier_stage *stage)
{
	return stage->input_tokens > 0 ? (double)stage->cached_tokens / (double)stage->input_tokens : 0;
}

/* Did the server know more of the prompts than in the first stage, because the search sent them again? */
static bool is_warm(const struct earlier_stage *stage, const struct earlier_stage *first)
{
	return (double)stage->repeated > VERDICT_REPEATS_DOUBTFUL * (double)stage->count &&
	       cached_share(stage) > cached_share(first) + WARM_FROM;
}

static int percentile_of(struct search_trial *trial, const struct search_goal *goal, struct ipf_error *err)
{
	struct samples s = {0};
	int status = 0;

	for (size_t i = 0; i < trial->stage->count; i++) {
		const struct earlier_request *row = &trial->stage->rows[i];
		if (row->ok && row->latency_ns[goal->latency] != IPF_ABSENT)
			samples_add(&s, (double)row->latency_ns[goal->latency]);
	}
	if (s.failed)
		status = ipf_error_memory(err);
	else
		trial->latency_ns = samples_percentile(&s, 100 * goal->share);
	samples_release(&s);
	return status;
}

static int judge(struct search_trials *tried, const struct search_of *of, const struct earlier_stage *stage,
                 double load, struct ipf_error *err)
{
	struct search_trial *trial = &tried->list[tried->count];
	const struct earlier_stage *first = tried->count ? tried->list[0].stage : stage;

	*trial = (struct search_trial){.stage = stage, .load = load, .enough = stage->count >= tried->needed};
	trial->excess = excess_of(stage);
	if (probability_met(trial, of->goals, err) < 0)
		return -1;
	if (!trial->enough) {
		trial->met = probability_of_few(stage, of->goals);
		trial->missed = trial->met < 0.5;
	}
	trial->failing = trial->missed && failures_decide(stage, of->goals);
	if (trial->missed && !trial->failing && earlier_stage_client_late(stage) && lateness_decides(stage, of->goals))
		trial->left_out = TRIAL_LATE;
	else if (!trial->missed && is_warm(stage, first))
		trial->left_out = TRIAL_WARM;
	if (trial->left_out)
		trial->met = 0.5;
	tried->count++;
	return percentile_of(trial, &of->goals->list[trial->goal], err);
}

static double load_of(const struct search_of *of, const struct earlier_stage *stage)
{
	return of->users || of->concurrency ? (double)stage->users : stage->rate;
}

/* Is this a stage the search could have tried? */
static bool is_trial(const struct search_of *of, const struct earlier_stage *stage)
{
	bool closed = of->users || of->concurrency;

	return stage->measured && strcmp(stage->kind, of->kind) == 0 &&
	       (!closed || earlier_stage_is_closed(stage, of->concurrency)) && isfinite(load_of(of, stage)) &&
	       load_of(of, stage) > 0;
}

/* A goal the run cannot have measured would pass for met. */
static int check_streamed(const struct search_of *of, const struct earlier_stage *stage, struct ipf_error *err)
{
	for (int i = 0; i < of->goals->count && stage->not_streamed > 0; i++) {
		const char *latency = search_goal_of_stream(&of->goals->list[i]);
		if (latency && (double)stage->not_streamed > NOT_STREAMED_MOST * (double)stage->count)
			return ipf_error_at(err, IPF_INPUT, stage->file, 0,
			                    "%s cannot be a goal: %zu of %zu responses of %s were not streamed and do not have it",
			                    latency, stage->not_streamed, stage->count, stage->name);
	}
	return 0;
}

int search_trials_judge(struct search_trials *tried, const struct search_of *of, const struct earlier_runs *runs,
                        struct ipf_error *err)
{
	bool known = false;

	tried->needed = search_goals_needed(of->goals);
	tried->list = calloc(runs->count + 1, sizeof *tried->list);
	if (!tried->list)
		return ipf_error_memory(err);
	for (size_t i = 0; i < runs->count; i++) {
		const struct earlier_stage *stage = &runs->stages[i];
		if (stage->incomplete)
			return ipf_error_at(err, IPF_INPUT, stage->file, 0, "the run is incomplete: %s", stage->incomplete);
		known |= is_trial(of, stage);
		if (is_trial(of, stage) && stage->count > 0 &&
		    (check_streamed(of, stage, err) < 0 || judge(tried, of, stage, load_of(of, stage), err) < 0))
			return -1;
	}
	if (!known && runs->count > 0)
		return ipf_error_at(err, IPF_INPUT, runs->stages[0].file, 0,
		                    "these are not results of this search: no measured stage is of kind %s%s", of->kind,
		                    of->concurrency ? " with concurrency="
		                    : of->users     ? " with users="
		                                    : "");
	return 0;
}

void search_trials_release(struct search_trials *tried)
{
	free(tried->list);
	*tried = (struct search_trials){0};
}

const struct search_trial *search_trials_failing(const struct search_trials *tried)
{
	const struct search_trial *first = NULL;

	for (size_t i = 0; i < tried->count; i++)
		if (tried->list[i].failing && (!first || tried->list[i].load < first->load))
			first = &tried->list[i];
	return first;
}

bool search_trials_fail_at_lowest(const struct search_trials *tried)
{
	const struct search_trial *failing = search_trials_failing(tried);

	for (size_t i = 0; failing && i < tried->count; i++)
		if (!tried->list[i].failing && tried->list[i].load <= failing->load)
			return false;
	return failing != NULL;
}
