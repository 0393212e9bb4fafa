/* A search is shorthand for the stage to try next, which the results of earlier runs determine. */
#include "kinds/stage_checks.h"

#include "absent.h"
#include "inputs/stage_inputs.h"
#include "search/load_search.h"
#include "verdict/verdict_limits.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct stage_key keys[] = {
	REQUIRED_KEY("slo", "GOAL,…", KEY_GOALS, goals, "objectives, such as p99:ttft=500ms,p90:tpot=50ms"),
	REQUIRED_KEY("low", "RATE", KEY_RATE, low, "lowest rate, or number of users, to consider"),
	REQUIRED_KEY("high", "RATE", KEY_RATE, high, "highest rate, or number of users, to consider"),
	STAGE_KEY("users", NULL, KEY_FLAG, by_users, "find a number of users in a closed loop instead of a rate"),
	STAGE_KEY("sessions", NULL, KEY_FLAG, by_sessions, "find a number of sessions that run at the same time instead"),
	STAGE_KEY("precision", "SHARE", KEY_SHARE, precision, "stop when the answer is known to within this (default: 5%)"),
	STAGE_KEY("confidence", "SHARE", KEY_SHARE, confidence, "confidence that the answer must have (default: 95%)"),
	STAGE_KEY("most", "COUNT", KEY_COUNT, most, "stop after COUNT stages (default: 60)"),
	STAGE_KEY("for", "TIME", KEY_DURATION, for_ns, "length of a stage"),
	STAGE_KEY("n", "COUNT", KEY_COUNT, n, "number of requests or sessions in a stage"),
	STAGE_KEY("rampup", "TIME", KEY_DURATION, rampup_ns, "with users or sessions: they start over this time"),
	KEY_IDLE_MAX,
	KEY_SALT,
	PROCESS_KEYS,
	KEY_SLOTS,
	STAGE_KEY("name", "NAME", KEY_TEXT, name, "beginning of the stage's name (default: search)"),
	KEY_END,
};

static bool in_closed_loop(const struct stage *search)
{
	return search->by_users || search->by_sessions;
}

static int search_check(const struct stage *stage, struct ipf_error *err)
{
	bool low_broken = stage->low != floor(stage->low);

	if (stage->low >= stage->high)
		return ipf_error_set(err, IPF_USAGE, "high: expected more than low= (%g), got %g", stage->low, stage->high);
	if (stage->by_users && stage->by_sessions)
		return ipf_error_set(err, IPF_USAGE, "users and sessions cannot be combined");
	if (in_closed_loop(stage) && (low_broken || stage->high != floor(stage->high)))
		return ipf_error_set(err, IPF_USAGE, "%s: expected a whole number of %s, got %g", low_broken ? "low" : "high",
		                     stage->by_sessions ? "sessions" : "users", low_broken ? stage->low : stage->high);
	if (stage->precision < 0.005 || stage->precision > 0.5)
		return ipf_error_set(err, IPF_USAGE, "precision: expected a share between 0.5%% and 50%%, got %g%%",
		                     100 * stage->precision);
	if (stage->confidence < 0.5 || stage->confidence > 0.999)
		return ipf_error_set(err, IPF_USAGE, "confidence: expected a share between 50%% and 99.9%%, got %g%%",
		                     100 * stage->confidence);
	if (stage->for_ns == IPF_ABSENT && stage->n == IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "for=TIME or n=COUNT is required");
	if (in_closed_loop(stage) && (stage->process_given || !isnan(stage->cv) || stage->slots != IPF_ABSENT))
		return ipf_error_set(err, IPF_USAGE, "%s: process=, cv= and slots= do not apply to a closed loop",
		                     stage->by_sessions ? "sessions" : "users");
	if (!in_closed_loop(stage) && (stage->salt || stage->idle_max_ns != IPF_ABSENT))
		return ipf_error_set(err, IPF_USAGE, "%s: requires users or sessions", stage->salt ? "salt" : "idle-max");
	if (rampup_check(stage, in_closed_loop(stage), "users or sessions", err) < 0)
		return -1;
	if (stage->salt && stage->for_ns == IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "salt: requires for=, without which no request is sent twice");
	if (!in_closed_loop(stage) && process_check(stage, err) < 0)
		return -1;
	return limits_check(stage, err);
}

static bool meets(const struct earlier_request *row, const struct search_goal *goal)
{
	int64_t value = row->latency_ns[goal->latency];

	return row->ok && (value == IPF_ABSENT || value <= goal->limit_ns);
}

/* Requests that follow each other tend to meet or miss a goal together. How many independent requests say as much, from
 * the means of twenty batches? */
static double effective_count(const struct earlier_stage *stage, const struct search_goal *goal, double share)
{
	enum { BATCHES = 20 };
	double n = (double)stage->count, size = n / BATCHES, squares = 0, variance = share * (1 - share);

	if (stage->count < 2 * BATCHES || variance <= 0)
		return n;
	for (size_t b = 0; b < BATCHES; b++) {
		size_t from = stage->count * b / BATCHES, to = stage->count * (b + 1) / BATCHES;
		double good = 0;
		for (size_t i = from; i < to; i++)
			good += meets(&stage->rows[i], goal);
		squares += (good / (double)(to - from) - share) * (good / (double)(to - from) - share);
	}
	return squares > 0 ? fmin(n, fmax(2, n * variance / size / (squares / (BATCHES - 1)))) : n;
}

/* The probability that the stage met all goals: that of the least likely one, since goals fail together. */
static double probability_met(const struct earlier_stage *stage, const struct search_goals *goals)
{
	double least = 1;

	for (int i = 0; i < goals->count; i++) {
		const struct search_goal *goal = &goals->list[i];
		double good = 0, n = (double)stage->count;
		for (size_t k = 0; k < stage->count; k++)
			good += meets(&stage->rows[k], goal);
		least = fmin(least, share_met(good, n, effective_count(stage, goal, good / n), goal->share));
	}
	return least;
}

/* Did the stage miss the goals because requests failed: would the others meet them, or is the run INVALID by its
 * failures (verdict_limits.h)? */
static bool failures_decide(const struct earlier_stage *stage, const struct search_goals *goals)
{
	double answered = (double)(stage->count - stage->failed);

	if ((double)stage->failed > VERDICT_ERRORS_INVALID * (double)stage->count)
		return true;
	for (int i = 0; i < goals->count; i++) {
		double good = 0;
		for (size_t k = 0; k < stage->count; k++)
			good += meets(&stage->rows[k], &goals->list[i]);
		if (good < goals->list[i].share * answered)
			return false;
	}
	return stage->failed > 0;
}

static double load_of_stage(const struct stage *search, const struct earlier_stage *stage)
{
	return in_closed_loop(search) ? (double)stage->users : stage->rate;
}

/* Is this a stage that the search could have tried? */
static bool is_trial(const struct stage *search, const struct earlier_stage *stage)
{
	double load = load_of_stage(search, stage);

	return stage->measured && stage->count > 0 && isfinite(load) && load > 0 &&
	       (!in_closed_loop(search) || (stage->users != IPF_ABSENT && stage->sessions == search->by_sessions)) &&
	       strcmp(stage->kind, in_closed_loop(search) ? "closed" : gaps_kind_name(search->process)) == 0;
}

static void put_load(struct buffer *out, const struct stage *search, double load)
{
	if (in_closed_loop(search))
		buffer_format(out, "%.12g %s%s", load, search->by_sessions ? "session" : "user", load != 1 ? "s" : "");
	else
		buffer_format(out, "%.4g/s", load);
}

static void put_goals(struct buffer *out, const struct stage *search)
{
	for (int i = 0; i < search->goals.count; i++)
		buffer_format(out, "%s%s", i ? "," : "", search->goals.list[i].text);
}

/* The stages that were tried, those in which the client was late, those that do not count because of that, and those
 * that failures made miss the goals. */
struct trials {
	struct load_search_trial *list;
	size_t count, late, invalid, failing;
	const struct earlier_stage *first_failing; /* the one with the lowest load; NULL */
	double first_failing_load, lowest_other;   /* its load, and the lowest one of the stages without failures */
};

static void add_trial(const struct stage *search, const struct earlier_stage *stage, struct trials *tried)
{
	double probability = probability_met(stage, &search->goals), load = load_of_stage(search, stage);
	bool invalid = probability < 0.5 && earlier_stage_client_failed(stage);
	bool failing = probability < 0.5 && !invalid && failures_decide(stage, &search->goals);

	tried->list[tried->count++] = (struct load_search_trial){load, invalid ? 0.5 : probability};
	tried->late += earlier_stage_client_late(stage);
	tried->invalid += invalid;
	tried->failing += failing;
	if (failing && (!tried->first_failing || load < tried->first_failing_load)) {
		tried->first_failing = stage;
		tried->first_failing_load = load;
	} else if (!failing && load < tried->lowest_other) {
		tried->lowest_other = load;
	}
}

/* Prompts that a prefix cache knew, and what the server reports of it in the first and the last stage. */
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

static void show_answer(const struct stage *search, const struct load_search_answer *a, const struct trials *tried,
                        const struct earlier_runs *runs, struct buffer *out)
{
	if (a->where == SEARCH_BELOW) {
		buffer_text(out, "less than ");
		put_load(out, search, search->low);
	} else if (a->where == SEARCH_ABOVE) {
		buffer_text(out, "at least ");
		put_load(out, search, search->high);
	} else {
		put_load(out, search, a->answer);
	}
	buffer_text(out, " meet ");
	put_goals(out, search);
	buffer_text(out, ": ");
	if (a->where == SEARCH_WITHIN) {
		buffer_text(out, "between ");
		put_load(out, search, a->least);
		buffer_text(out, " and ");
		put_load(out, search, a->most);
		buffer_text(out, ", ");
	}
	buffer_format(out, "%.3g %% sure, after %zu stage%s", 100 * a->sure, tried->count, tried->count == 1 ? "" : "s");
	if (tried->late)
		buffer_format(out, "; the client was late in %zu of them, and may be the limit", tried->late);
	if (tried->invalid)
		buffer_format(out, "; %zu of those failed and %s not counted", tried->invalid,
		              tried->invalid == 1 ? "is" : "are");
	if (tried->failing) {
		buffer_format(out, "; failures, not latencies, decided %zu of them, from ", tried->failing);
		put_load(out, search, tried->first_failing_load);
		buffer_text(out, " on: ");
		earlier_stage_describe_failures(tried->first_failing, out);
	}
	put_repeats(out, runs);
	if (!a->known)
		buffer_text(out, "; stopped before the requested precision was reached");
	buffer_text(out, "\n");
}

/* A server that fails at the lowest load that was tried may fail at every load, which no rate answers. */
static bool fails_at_lowest(const struct trials *tried)
{
	return tried->first_failing && tried->first_failing_load < tried->lowest_other;
}

static void describe_failing(const struct trials *tried, struct buffer *out)
{
	buffer_format(out, "stage %s: ", tried->first_failing->name);
	earlier_stage_describe_failures(tried->first_failing, out);
}

/* Ends the search without an answer: the failures are not the load's. */
static int end_by_failures(const struct stage *search, const struct trials *tried, struct ipf_error *err)
{
	struct buffer text = {0};

	describe_failing(tried, &text);
	buffer_text(&text, ": failures ended the search, not the objective ");
	put_goals(&text, search);
	if (text.failed)
		ipf_error_memory(err);
	else
		ipf_error_at(err, IPF_INVALID, tried->first_failing->file, 0, "%s", text.data);
	buffer_release(&text);
	return -1;
}

/* Decides on the next load, rounded to four digits, or writes the answer. */
static int decide_next(struct stage *search, struct stage_inputs *inputs, const struct trials *tried,
                       struct ipf_error *err)
{
	struct load_search range = {search->low, search->high, search->precision, search->confidence,
	                            in_closed_loop(search)};
	struct load_search_answer answer;
	char text[32];

	bool last = tried->count >= (size_t)search->most;

	if (fails_at_lowest(tried) && (last || tried->first_failing_load <= search->low))
		return end_by_failures(search, tried, err);
	if (load_search_next(&range, tried->list, tried->count, &answer, err) < 0)
		return -1;
	if (fails_at_lowest(tried))
		answer = (struct load_search_answer){.next = search->low};
	search->ordinal = tried->count; /* a stage that is tried again draws other arrivals */
	snprintf(text, sizeof text, "%.4g", answer.next);
	search->rate = in_closed_loop(search) ? answer.next : strtod(text, NULL);
	if (answer.known || last) {
		search->rate = NAN;
		show_answer(search, &answer, tried, &inputs->earlier, &inputs->answer);
	} else if (fails_at_lowest(tried)) {
		describe_failing(tried, &inputs->notes);
		buffer_text(&inputs->notes, ": next is the lowest load, which shows whether the load is the cause\n");
	} else if (tried->count > 0) {
		buffer_text(&inputs->notes, "so far ");
		show_answer(
			search,
			&(struct load_search_answer){answer.where, true, answer.answer, answer.least, answer.most, answer.sure, 0},
			tried, &inputs->earlier, &inputs->notes);
	}
	return 0;
}

/* More requests than this share without a figure of streamed responses, and no goal on it can be judged. */
#define NOT_STREAMED_MOST 0.01

/* A goal that the run cannot have measured would pass for met. */
static int check_streamed(const struct stage *search, const struct earlier_stage *stage, struct ipf_error *err)
{
	for (int i = 0; i < search->goals.count && stage->not_streamed > 0; i++) {
		const char *latency = search_goal_of_stream(&search->goals.list[i]);
		if (latency && (double)stage->not_streamed > NOT_STREAMED_MOST * (double)stage->count)
			return ipf_error_at(err, IPF_INPUT, stage->file, 0,
			                    "%s cannot be a goal: %zu of %zu responses of %s were not streamed and do not have it",
			                    latency, stage->not_streamed, stage->count, stage->name);
	}
	return 0;
}

static int search_resolve(struct stage *search, struct stage_inputs *inputs, struct ipf_error *err)
{
	const struct earlier_runs *runs = &inputs->earlier;
	struct trials tried = {.list = calloc(runs->count + 1, sizeof *tried.list), .lowest_other = INFINITY};
	int status = 0;

	if (!tried.list)
		return ipf_error_memory(err);
	for (size_t i = 0; i < runs->count && status == 0; i++) {
		const struct earlier_stage *stage = &runs->stages[i];
		if (stage->incomplete)
			status = ipf_error_at(err, IPF_INPUT, stage->file, 0, "the run is incomplete: %s", stage->incomplete);
		if (!is_trial(search, stage))
			continue;
		if (status < 0 || (status = check_streamed(search, stage, err)) < 0)
			break;
		add_trial(search, stage, &tried);
	}
	if (status == 0 && tried.count == 0 && runs->count > 0)
		status = ipf_error_at(err, IPF_INPUT, runs->stages[0].file, 0,
		                      "these are not results of this search: no measured stage is of kind %s",
		                      search->by_sessions ? "closed with sessions="
		                      : search->by_users  ? "closed"
		                                          : gaps_kind_name(search->process));
	else if (status == 0)
		status = decide_next(search, inputs, &tried, err);
	inputs->first_req = runs->next_req;
	free(tried.list);
	return status;
}

static int search_expand(const struct stage *search, size_t index, struct stage *stage, struct ipf_error *err)
{
	struct stage sweep = *search;
	double load = search->rate;

	if (isnan(load) || index > 0)
		return 0;
	if (!sweep.name)
		sweep.name = (char *)(uintptr_t) "search";
	sweep.rates = (struct rates){.list = &load, .count = 1, .counts = in_closed_loop(search)};
	stage->ordinal = search->ordinal;
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
