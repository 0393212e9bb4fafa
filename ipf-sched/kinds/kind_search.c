/* A search is shorthand for the stage to try next, which the results of earlier runs determine. */
#include "kinds/stage_checks.h"

#include "absent.h"
#include "inputs/stage_inputs.h"
#include "clock.h"
#include "search/search_answer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define TIME_NS       (300 * NS_PER_S) /* a search's, unless its stages have a fixed length */
#define TIME_LEAST_NS (20 * NS_PER_S)

static const struct stage_key keys[] = {
	REQUIRED_KEY("slo", "GOAL,…", KEY_GOALS, goals, "objectives, such as p99:ttft=500ms,p90:tpot=50ms"),
	STAGE_KEY("time", "TIME", KEY_DURATION, time_ns, "time of the whole search (default: 5m)"),
	STAGE_KEY("low", "RATE", KEY_RATE, low, "lowest rate, or number of users, to consider"),
	STAGE_KEY("high", "RATE", KEY_RATE, high, "highest rate, or number of users, to consider"),
	STAGE_KEY("users", NULL, KEY_FLAG, by_users, "find a number of users in a closed loop instead of a rate"),
	STAGE_KEY("concurrency", NULL, KEY_FLAG, by_concurrency, "find a number of requests in flight instead"),
	STAGE_KEY("precision", "SHARE", KEY_SHARE, precision, "stop when the answer is known to within this (default: 5%)"),
	STAGE_KEY("confidence", "SHARE", KEY_SHARE, confidence, "confidence of the answer (default: 95%)"),
	STAGE_KEY("most", "COUNT", KEY_COUNT, most, "stop after COUNT stages (default: 60)"),
	STAGE_KEY("for", "TIME", KEY_DURATION, for_ns, "instead of time=: least length of a stage"),
	STAGE_KEY("n", "COUNT", KEY_COUNT, n, "instead of time=: number of requests or sessions in a stage"),
	STAGE_KEY("rampup", "TIME", KEY_DURATION, rampup_ns, "with users or concurrency: they start over this time"),
	KEY_IDLE_MAX,
	KEY_SALT,
	PROCESS_KEYS,
	KEY_SLOTS,
	STAGE_KEY("name", "NAME", KEY_TEXT, name, "beginning of the stage's name (default: search)"),
	KEY_END,
};

static bool in_closed_loop(const struct stage *search)
{
	return search->by_users || search->by_concurrency;
}

/* Keys for the lengths of stages. */
static int check_lengths(const struct stage *stage, struct ipf_error *err)
{
	bool fixed = stage->for_ns != IPF_ABSENT || stage->n != IPF_ABSENT;
	const char *length = stage->n == IPF_ABSENT ? "for" : "n";
	size_t needed = search_goals_needed(&stage->goals);

	if (fixed && stage->time_ns != IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "time= and %s= cannot be combined", length);
	if (fixed && (isnan(stage->low) || isnan(stage->high)))
		return ipf_error_set(err, IPF_USAGE, "%s=RATE is required with %s=", isnan(stage->low) ? "low" : "high",
		                     length);
	if (stage->time_ns != IPF_ABSENT && stage->time_ns < TIME_LEAST_NS)
		return ipf_error_set(err, IPF_USAGE, "time: expected at least 20s for a search");
	if (stage->n != IPF_ABSENT && !in_closed_loop(stage) && (uint64_t)stage->n < needed)
		return ipf_error_set(err, IPF_USAGE, "n: %lld requests cannot judge the percentile of slo=: %zu are needed",
		                     (long long)stage->n, needed);
	if (stage->salt && stage->n != IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "salt: requires for= or time=, without which no request is sent twice");
	return fixed ? limits_check(stage, err) : 0;
}

/* Keys of closed loops, and those for rates only. */
static int check_loop(const struct stage *stage, struct ipf_error *err)
{
	const char *units = stage->by_concurrency ? "requests" : "users";
	bool low_broken = !isnan(stage->low) && stage->low != floor(stage->low);

	if (stage->by_users && stage->by_concurrency)
		return ipf_error_set(err, IPF_USAGE, "users and concurrency cannot be combined");
	if (rampup_check(stage, in_closed_loop(stage), "users or concurrency", err) < 0)
		return -1;
	if (!in_closed_loop(stage) && (stage->salt || stage->idle_max_ns != IPF_ABSENT))
		return ipf_error_set(err, IPF_USAGE, "%s: requires users or concurrency", stage->salt ? "salt" : "idle-max");
	if (!in_closed_loop(stage))
		return process_check(stage, err);
	if (low_broken || (!isnan(stage->high) && stage->high != floor(stage->high)))
		return ipf_error_set(err, IPF_USAGE, "%s: expected a whole number of %s, got %g", low_broken ? "low" : "high",
		                     units, low_broken ? stage->low : stage->high);
	if (stage->process_given || !isnan(stage->cv) || stage->slots != IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "%s: process=, cv= and slots= do not apply to a closed loop",
		                     stage->by_concurrency ? "concurrency" : "users");
	return 0;
}

static int search_check(const struct stage *stage, struct ipf_error *err)
{
	if (stage->low >= stage->high)
		return ipf_error_set(err, IPF_USAGE, "high: expected more than low= (%g), got %g", stage->low, stage->high);
	if (stage->precision < 0.005 || stage->precision > 0.5)
		return ipf_error_set(err, IPF_USAGE, "precision: expected a share between 0.5%% and 50%%, got %g%%",
		                     100 * stage->precision);
	if (stage->confidence < 0.5 || stage->confidence > 0.999)
		return ipf_error_set(err, IPF_USAGE, "confidence: expected a share between 50%% and 99.9%%, got %g%%",
		                     100 * stage->confidence);
	return check_loop(stage, err) < 0 ? -1 : check_lengths(stage, err);
}

static const char *kind_of(const struct stage *search)
{
	return in_closed_loop(search) ? "closed" : gaps_kind_name(search->process);
}

static struct search_plan plan_of(const struct stage *search)
{
	struct search_plan plan = {search->low,       search->high,       in_closed_loop(search),
	                           search->precision, search->confidence, (size_t)search->most,
	                           search->time_ns,   search->for_ns,     0};

	for (int i = 0; i < search->goals.count; i++)
		if (search->goals.list[i].limit_ns > plan.limit_ns)
			plan.limit_ns = search->goals.list[i].limit_ns;
	return plan;
}

/* Ends the search without an answer: the failures are not the load's. */
static int end_by_failures(const struct stage *search, const struct search_trial *failing, struct ipf_error *err)
{
	struct buffer text = {0};

	search_answer_failing(failing, &text);
	buffer_text(&text, ": failures ended the search, not the objective ");
	search_goals_describe(&search->goals, &text);
	if (text.failed)
		ipf_error_memory(err);
	else
		ipf_error_at(err, IPF_INVALID, failing->stage->file, 0, "%s", text.data);
	buffer_release(&text);
	return -1;
}

static int end_by_time(const struct search_texts *texts, const struct search_step *step, struct ipf_error *err)
{
	struct buffer text = {0};

	search_answer_too_short(texts, step, &text);
	if (text.failed)
		ipf_error_memory(err);
	else
		ipf_error_set(err, IPF_USAGE, "%s", text.data);
	buffer_release(&text);
	return -1;
}

/* A server failing at the lowest load tried may fail at every load, which no rate answers. With a lower bound, that is
 * the load to try. */
static bool goes_to_low(const struct stage *search, const struct search_trials *tried)
{
	const struct search_trial *failing = search_trials_failing(tried);

	return search_trials_fail_at_lowest(tried) && tried->count < (size_t)search->most && search->low < failing->load;
}

static void set_next(struct stage *search, const struct search_step *step)
{
	search->rate = step->load;
	if (step->for_ns != IPF_ABSENT)
		search->for_ns = step->for_ns;
	search->lead_ns = step->warmup_ns;
}

/* Decides on the next load, or writes the answer. */
static int decide_next(struct stage *search, struct stage_inputs *inputs, const struct search_texts *texts,
                       struct ipf_error *err)
{
	const struct search_trials *tried = texts->tried;
	bool to_low = goes_to_low(search, tried);
	struct search_step step;

	if (search_plan_next(texts->plan, tried, inputs->earlier.spent_ns, &step, err) < 0)
		return -1;
	if (search_trials_fail_at_lowest(tried) && !to_low)
		return end_by_failures(search, search_trials_failing(tried), err);
	if (to_low) {
		search_answer_failing(search_trials_failing(tried), &inputs->notes);
		buffer_text(&inputs->notes, ": next is the lowest load, which shows whether the load is the cause\n");
		step.load = search->low;
	} else if (step.what == SEARCH_TOO_SHORT && tried->count == 0) {
		return end_by_time(texts, &step, err);
	} else if (step.what != SEARCH_TRY) {
		search_answer_write(texts, &step, &inputs->answer);
		return 0;
	} else {
		search_answer_next(texts, &step, &inputs->notes);
	}
	set_next(search, &step);
	return 0;
}

static int search_resolve(struct stage *search, struct stage_inputs *inputs, struct ipf_error *err)
{
	const struct earlier_runs *runs = &inputs->earlier;
	struct search_of of = {kind_of(search), search->by_users, search->by_concurrency, &search->goals};
	struct search_plan plan;
	struct search_trials tried = {0};
	int status;

	if (search->for_ns == IPF_ABSENT && search->n == IPF_ABSENT && search->time_ns == IPF_ABSENT)
		search->time_ns = TIME_NS;
	plan = plan_of(search);
	search->ordinal = runs->count; /* a stage tried again draws other arrivals */
	status = search_trials_judge(&tried, &of, runs, err);
	if (status == 0)
		status = decide_next(search, inputs, &(struct search_texts){&of, &plan, &tried, runs}, err);
	inputs->first_req = runs->next_req;
	search_trials_release(&tried);
	return status;
}

/* The stage before the measured one, with the same load. */
static int expand_warmup(struct stage *sweep, struct stage *stage, struct ipf_error *err)
{
	sweep->for_ns = sweep->lead_ns;
	sweep->n = IPF_ABSENT;
	sweep->warmup = true;
	if (in_closed_loop(sweep) && (sweep->rampup_ns == IPF_ABSENT || sweep->rampup_ns > sweep->for_ns))
		sweep->rampup_ns = sweep->for_ns;
	return kind_sweep.expand(sweep, 0, stage, err);
}

static int search_expand(const struct stage *search, size_t index, struct stage *stage, struct ipf_error *err)
{
	struct stage sweep = *search;
	double load = search->rate;
	size_t warmups = search->lead_ns > 0;

	if (isnan(load) || index > warmups)
		return 0;
	sweep.off_ns = IPF_ABSENT;
	sweep.rates = (struct rates){.list = &load, .count = 1, .counts = in_closed_loop(search)};
	stage->ordinal = search->ordinal;
	if (index < warmups) {
		sweep.name = (char *)(uintptr_t) "warm-up";
		return expand_warmup(&sweep, stage, err);
	}
	if (!sweep.name)
		sweep.name = (char *)(uintptr_t) "search";
	if (warmups)
		sweep.rampup_ns = IPF_ABSENT; /* the users of the warm-up go on */
	return kind_sweep.expand(&sweep, 0, stage, err);
}

const struct stage_kind kind_search = {
	.name = "search",
	.summary = "the next stage of a search for the highest load that meets goals",
	.keys = keys,
	.check = search_check,
	.resolve = search_resolve,
	.expand = search_expand,
};
