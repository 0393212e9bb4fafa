#include "search/search_answer.h"

#include "absent.h"
#include "cli/units.h"
#include "clock.h"
#include "stats/samples.h"
#include "verdict/verdict_limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_rate(const struct search_texts *t)
{
	return !t->of->users && !t->of->concurrency;
}

/* "90 s", "4 min 10 s". */
static void put_time(struct buffer *out, int64_t ns)
{
	long long s = ns > 0 ? (ns + NS_PER_S / 2) / NS_PER_S : 0;

	if (s < 120 && ns < 10 * NS_PER_S)
		buffer_format(out, "%.3g s", (double)(ns > 0 ? ns : 0) / NS_PER_S);
	else if (s < 120)
		buffer_format(out, "%lld s", s);
	else if (s % 60)
		buffer_format(out, "%lld min %lld s", s / 60, s % 60);
	else
		buffer_format(out, "%lld min", s / 60);
}

/* An estimate, rounded. */
static double three_digits(double load)
{
	char text[32];

	snprintf(text, sizeof text, "%.3g", load);
	return strtod(text, NULL);
}

/* "28.8 requests/s", "1 user", "8 requests in flight". */
static void put_load(struct buffer *out, const struct search_texts *t, double load)
{
	buffer_format(out, "%.6g %s%s%s", load, t->of->users ? "user" : "request", load == 1 ? "" : "s",
	              is_rate(t)           ? "/s"
	              : t->of->concurrency ? " in flight"
	                                   : "");
}

/* The same load, after the unit has been said: "28.8/s", "1". */
static void put_short(struct buffer *out, const struct search_texts *t, double load)
{
	buffer_format(out, "%.6g%s", load, is_rate(t) ? "/s" : "");
}

static void put_latency(struct buffer *out, const struct search_texts *t, const struct search_trial *trial)
{
	char text[32];

	if (!trial->missed && search_plan_missed(t->plan, t->tried, trial))
		buffer_text(out, "requests took longer and longer");
	else if (trial->failing)
		buffer_format(out, "%.3g %% of %zu requests failed",
		              100 * (double)trial->stage->failed / (double)trial->stage->count, trial->stage->count);
	else if (!isnan(trial->latency_ns) && trial->latency_ns < 9e18)
		buffer_text(out, format_duration((int64_t)trial->latency_ns, text));
	else
		buffer_text(out, "no answer had this figure");
}

/* "(304 ms)", or with several goals "(p90 TPOT 61 ms)". */
static void put_figure(struct buffer *out, const struct search_texts *t, const struct search_trial *trial)
{
	buffer_text(out, " (");
	if (t->of->goals->count > 1 && !trial->failing && trial->missed == search_plan_missed(t->plan, t->tried, trial)) {
		search_goal_name(&t->of->goals->list[trial->goal], out);
		buffer_byte(out, ' ');
	}
	put_latency(out, t, trial);
	buffer_byte(out, ')');
}

/* The trial at this load that counts and says the same; the last one. */
static const struct search_trial *find(const struct search_texts *t, double load, bool missed)
{
	const struct search_trial *found = NULL;

	for (size_t i = 0; i < t->tried->count; i++) {
		const struct search_trial *trial = &t->tried->list[i];
		if (trial->left_out == TRIAL_COUNTS && search_plan_missed(t->plan, t->tried, trial) == missed &&
		    trial->load == load)
			found = trial;
	}
	return found;
}

/* The lowest load above `load` that missed; NULL. */
static const struct search_trial *missed_above(const struct search_texts *t, double load)
{
	const struct search_trial *lowest = NULL;

	for (size_t i = 0; i < t->tried->count; i++) {
		const struct search_trial *trial = &t->tried->list[i];
		if (trial->left_out == TRIAL_COUNTS && search_plan_missed(t->plan, t->tried, trial) && trial->load > load &&
		    (!lowest || trial->load < lowest->load))
			lowest = trial;
	}
	return lowest;
}

static void put_meet(struct buffer *out, const struct search_texts *t, double load)
{
	put_load(out, t, load);
	buffer_text(out, load == 1 ? " meets " : " meet ");
	search_goals_describe(t->of->goals, out);
}

static void put_missed(struct buffer *out, const struct search_texts *t, double load)
{
	const struct search_trial *trial = missed_above(t, load);

	if (!trial)
		return;
	buffer_text(out, "; ");
	put_short(out, t, trial->load);
	buffer_text(out, trial->load == 1 ? " does not" : " do not");
	put_figure(out, t, trial);
}

static void put_within(struct buffer *out, const struct search_texts *t, const struct load_search_answer *a)
{
	double rounded = t->plan->whole ? a->answer : three_digits(a->answer);

	put_meet(out, t, rounded);
	buffer_format(out, " (between %.6g and %.6g, %.3g %%)", t->plan->whole ? a->least : three_digits(a->least),
	              t->plan->whole ? a->most : three_digits(a->most), 100 * a->sure);
	put_missed(out, t, a->answer);
}

/* No load tried met the goals. */
static void put_none(struct buffer *out, const struct search_texts *t, double load, bool alone)
{
	const struct search_trial *trial = find(t, load, true);

	buffer_text(out, "not even ");
	put_load(out, t, load);
	buffer_text(out, load == 1 ? " meets " : " meet ");
	search_goals_describe(t->of->goals, out);
	if (trial)
		put_figure(out, t, trial);
	if (alone)
		buffer_text(out, ": requests running alone take as long");
}

static void put_at_least(struct buffer *out, const struct search_texts *t, double load)
{
	const struct search_trial *trial = find(t, load, false);

	buffer_text(out, "at least ");
	put_meet(out, t, load);
	if (trial)
		put_figure(out, t, trial);
	put_missed(out, t, load);
}

/* "p99". */
static void put_percentile(struct buffer *out, const struct search_goals *goals)
{
	double most = 0;

	for (int i = 0; i < goals->count; i++)
		most = fmax(most, goals->list[i].share);
	buffer_format(out, "p%.6g", 100 * most);
}

static bool any_enough(const struct search_trials *tried)
{
	for (size_t i = 0; i < tried->count; i++)
		if (tried->list[i].enough)
			return true;
	return false;
}

/* The evidence of the tried loads by themselves. */
static void put_bracket(struct buffer *out, const struct search_texts *t, const struct search_step *step)
{
	struct search_bracket b = search_plan_bracket(t->plan, t->tried);

	if (!isnan(b.low))
		put_at_least(out, t, b.low);
	else if (!isnan(b.high))
		put_none(out, t, b.high, step->alone);
	else
		buffer_text(out, "no stage counts");
	if (step->what != SEARCH_TOO_SHORT && !step->alone && !any_enough(t->tried)) {
		buffer_format(out, "; no stage had the %zu requests of a ", t->tried->needed);
		put_percentile(out, t->of->goals);
	}
}

static void put_highest(struct buffer *out, const struct search_texts *t)
{
	put_at_least(out, t, t->plan->high);
	buffer_text(out, ", and high= asks for no more");
}

static void put_finding(struct buffer *out, const struct search_texts *t, const struct search_step *step)
{
	const struct load_search_answer *a = &step->answer;

	if (step->weighed && a->where == SEARCH_WITHIN && isfinite(a->least) && a->most > a->least)
		put_within(out, t, a);
	else if (step->weighed && a->where == SEARCH_BELOW && !isnan(t->plan->low))
		put_none(out, t, t->plan->low, step->alone);
	else if (step->weighed && a->where == SEARCH_ABOVE && !isnan(t->plan->high))
		put_highest(out, t);
	else
		put_bracket(out, t, step);
}

static void put_left_out(struct buffer *out, const struct search_texts *t)
{
	size_t late = 0, warm = 0;
	double lowest = INFINITY;

	for (size_t i = 0; i < t->tried->count; i++) {
		const struct search_trial *trial = &t->tried->list[i];
		late += trial->left_out == TRIAL_LATE;
		warm += trial->left_out == TRIAL_WARM;
		if (trial->left_out == TRIAL_LATE)
			lowest = fmin(lowest, trial->load);
	}
	if (late) {
		buffer_format(out, "; the client was late in %zu stage%s, which do%s not count, from ", late,
		              late == 1 ? "" : "s", late == 1 ? "es" : "");
		put_short(out, t, lowest);
		buffer_text(out, " on: use a faster one, or several (--shard)");
	}
	if (warm)
		buffer_format(out, "; %zu stage%s do%s not count: the server had %s prompts in its cache", warm,
		              warm == 1 ? "" : "s", warm == 1 ? "es" : "", warm == 1 ? "its" : "their");
}

static void put_failures(struct buffer *out, const struct search_texts *t)
{
	const struct search_trial *failing = search_trials_failing(t->tried);

	if (!failing)
		return;
	buffer_text(out, "; failures, not latencies, decide from ");
	put_short(out, t, failing->load);
	buffer_text(out, " on: ");
	earlier_stage_describe_failures(failing->stage, out);
}

/* Prompts a prefix cache knew, and the server's report of it in the first and the last stage. */
static void put_repeats(struct buffer *out, const struct earlier_runs *runs)
{
	const struct earlier_stage *first = NULL, *last = NULL;
	size_t sent = 0, repeated = 0;

	for (size_t i = 0; i < runs->count; i++) {
		const struct earlier_stage *stage = &runs->stages[i];
		sent += stage->count;
		repeated += stage->repeated;
		if (stage->measured && stage->input_tokens > 0) {
			first = first ? first : stage;
			last = stage;
		}
	}
	if ((double)repeated <= VERDICT_REPEATS_DOUBTFUL * (double)sent)
		return;
	buffer_format(out, "; %zu of %zu requests sent a prompt again", repeated, sent);
	if (first != last)
		buffer_format(
			out,
			", and the server had %.0f %% of the prompt tokens of the first stage in its cache, %.0f %% of the last",
			100 * (double)first->cached_tokens / (double)first->input_tokens,
			100 * (double)last->cached_tokens / (double)last->input_tokens);
	buffer_format(out, ": %zu prompts are enough (ipf-prep -n), or --new-prompts for those of each stage to differ",
	              sent);
}

/* The highest percentile for which a stage fits into the time that is left; 0: there is none. */
static double percentile_that_fits(const struct search_texts *t, const struct search_step *step)
{
	static const double percentiles[] = {99, 95, 90, 75, 50};
	double needed = (double)t->tried->needed + 2 * sqrt((double)t->tried->needed);

	for (size_t i = 0; i < sizeof percentiles / sizeof *percentiles; i++) {
		double fewer = (double)samples_needed(percentiles[i]);
		if (fewer < (double)t->tried->needed &&
		    (fewer + 2 * sqrt(fewer)) / needed * (double)step->needed_ns <= (double)step->left_ns)
			return percentiles[i];
	}
	return 0;
}

/* Long enough for four stages of this length, in whole minutes. */
static long long minutes_enough(const struct search_plan *plan, const struct search_step *step)
{
	double ns = step->brief ? 2.0 * (double)plan->time_ns
	                        : (double)(plan->time_ns - step->left_ns) + 4.0 * (double)step->needed_ns;

	return (long long)fmin(1e9, ceil(ns / 60e9));
}

/* Why a stage takes so long. */
static void put_reason(struct buffer *out, const struct search_texts *t, const struct search_step *step)
{
	if (step->by_limit) {
		buffer_text(out, "a queue exceeds a limit of ");
		put_time(out, t->plan->limit_ns);
		buffer_text(out, " only in a long stage: it takes ");
		put_time(out, step->needed_ns);
		return;
	}
	buffer_text(out, "a ");
	put_percentile(out, t->of->goals);
	buffer_format(out, " needs %zu requests, so a stage at ", t->tried->needed);
	put_short(out, t, step->load);
	buffer_text(out, " takes ");
	put_time(out, step->needed_ns);
	buffer_text(out, " with its warm-up");
}

/* Why the search ends before it has judged the goals, and a remedy. */
static void put_too_short(struct buffer *out, const struct search_texts *t, const struct search_step *step)
{
	double fits = step->brief || step->by_limit ? 0 : percentile_that_fits(t, step);

	if (step->brief)
		buffer_text(out, "no load missing the objectives is known");
	else
		put_reason(out, t, step);
	buffer_text(out, ", and ");
	put_time(out, step->left_ns);
	buffer_text(out, " are left: use ");
	if (fits > 0)
		buffer_format(out, "p%.4g (%zu requests) or ", fits, samples_needed(fits));
	buffer_format(out, "time=%lldm", minutes_enough(t->plan, step));
}

void search_answer_too_short(const struct search_texts *t, const struct search_step *step, struct buffer *out)
{
	buffer_text(out, "time: ");
	put_too_short(out, t, step);
}

void search_answer_write(const struct search_texts *t, const struct search_step *step, struct buffer *out)
{
	put_finding(out, t, step);
	if (step->what == SEARCH_TOO_SHORT) {
		buffer_text(out, "; ");
		put_too_short(out, t, step);
	}
	put_left_out(out, t);
	put_failures(out, t);
	put_repeats(out, t->runs);
	if (!step->answer.known && !step->alone && t->tried->count >= t->plan->most)
		buffer_format(out, "; stopped after %zu stages", t->tried->count);
	buffer_byte(out, '\n');
}

/* ---- notes ------------------------------------------------------------------------------------------------------- */

void search_answer_plan(const struct search_texts *t, const struct search_step *step, struct buffer *out)
{
	if (t->plan->time_ns == IPF_ABSENT)
		return;
	buffer_text(out, "at most ");
	put_time(out, t->plan->time_ns);
	buffer_text(out, ": short stages, from ");
	put_load(out, t, step->load);
	buffer_text(out, " up, until one misses ");
	search_goals_describe(t->of->goals, out);
	buffer_format(out, "; then stages near the limit, of %zu requests or more, as a ", t->tried->needed);
	put_percentile(out, t->of->goals);
	buffer_text(out, " needs\n");
}

static void put_last(struct buffer *out, const struct search_texts *t)
{
	static const char *const out_of[] = {
		[TRIAL_LATE] = ": does not count, the client was late",
		[TRIAL_WARM] = ": does not count, the server had its prompts in its cache",
	};
	const struct search_trial *last = &t->tried->list[t->tried->count - 1];

	put_load(out, t, last->load);
	buffer_text(out, search_plan_missed(t->plan, t->tried, last) ? " missed " : " met ");
	search_goals_describe(t->of->goals, out);
	put_figure(out, t, last);
	if (last->left_out)
		buffer_text(out, out_of[last->left_out]);
}

void search_answer_next(const struct search_texts *t, const struct search_step *step, struct buffer *out)
{
	if (t->tried->count == 0) {
		search_answer_plan(t, step, out);
		return;
	}
	put_last(out, t);
	buffer_text(out, "; next ");
	put_short(out, t, step->load);
	if (step->for_ns != IPF_ABSENT) {
		buffer_text(out, " for ");
		put_time(out, step->for_ns + step->warmup_ns);
	}
	if (step->left_ns != IPF_ABSENT) {
		buffer_text(out, ", ");
		put_time(out, step->left_ns);
		buffer_text(out, " left");
	}
	buffer_byte(out, '\n');
}

void search_answer_failing(const struct search_trial *failing, struct buffer *out)
{
	buffer_format(out, "stage %s: ", failing->stage->name);
	earlier_stage_describe_failures(failing->stage, out);
}
