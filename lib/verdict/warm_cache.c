#include "verdict/warm_cache.h"

#include "absent.h"
#include "token_count.h"
#include "verdict/verdict_limits.h"

#include <math.h>

/* A chat template's tokens per request; the server's excess over the trace can be one. */
static double template_tokens(const struct warm_cache_sums *s)
{
	return fmax(VERDICT_TEMPLATE_TOKENS, (double)(s->received - s->asked) / (double)s->requests);
}

/* The share of the input tokens by which the comparison can be off: `possible` is an estimate, a chat template is in
 * front of each prompt, and the shared parts of prompts may have other tokens a byte than the rest. */
static double slack(const struct warm_cache *w, double possible)
{
	const struct warm_cache_sums *s = &w->sums;
	const double own = 1 - possible, requests = (double)s->requests / (double)s->input;
	return VERDICT_WARM_DOUBTFUL + 3 * (double)w->reuse.error_tokens / (double)w->reuse.input_tokens +
	       requests * (own * template_tokens(s) + VERDICT_WARM_BLOCK) + VERDICT_WARM_UNEVEN * possible * own;
}

/* The share of the first-sent tokens that a cold cache finds at most. */
static double possible_of(const struct warm_cache *w)
{
	const struct warm_cache_sums *s = &w->sums;
	const double scale = s->asked > 0 ? (double)s->received / (double)s->asked : 1;
	const double tokens = (double)(w->reuse.reusable_tokens + (w->live ? w->reuse.answer_tokens : 0));
	const double copies = fmax((double)w->copies, __builtin_popcountll(w->copies_sent)) + (double)w->resets;
	return fmin(1, copies * tokens * scale / (double)s->input);
}

static struct warm_cache_finding finding_of(const struct warm_cache *w)
{
	const struct warm_cache_sums *s = &w->sums;
	if (!s->reported || s->input == 0 || w->reuse.input_tokens == 0 || w->unordered)
		return (struct warm_cache_finding){NAN, NAN, -INFINITY};
	const double possible = possible_of(w);
	const double share = (double)s->cached / (double)s->input;
	return (struct warm_cache_finding){share, possible, share - possible - slack(w, possible)};
}

static struct warm_cache_finding worst_of(const struct warm_cache *w)
{
	struct warm_cache_finding now = finding_of(w);
	return w->parts > 1 && (isnan(now.share) || w->worst.excess > now.excess) ? w->worst : now;
}

void warm_cache_part(struct warm_cache *w, const struct schedule *schedule)
{
	const bool shard = schedule && schedule->shards > 0;
	w->shard = shard;
	if (!shard || w->parts == 0) {
		w->worst = worst_of(w);
		w->parts++;
		w->unordered = false;
		w->sums = (struct warm_cache_sums){.input = 0};
		w->copies_sent = 0;
		w->resets = 0;
		seen_numbers_release(&w->sent);
	}
	w->copies = 1;
	w->reuse = schedule ? schedule->trace_reuse : (struct schedule_reuse){.input_tokens = 0};
	for (size_t i = 0; schedule && i < schedule->count; i++)
		if (schedule->stages[i].copy >= w->copies)
			w->copies = schedule->stages[i].copy + 1;
}

void warm_cache_reset(struct warm_cache *w)
{
	if (w->sums.requests > 0)
		w->resets++;
	seen_numbers_release(&w->sent);
}

void warm_cache_row(struct warm_cache *w, const struct result *row, int64_t number, bool measured)
{
	struct warm_cache_sums *s = &w->sums;
	if (row->start_ns == IPF_ABSENT || number < 0 || w->reuse.input_tokens == 0)
		return;
	bool again = seen_numbers_add(&w->sent, number);
	w->unordered |= again && w->shard;
	if ((again || !measured) && verdict_valid_count(row->input_tokens_usage)) {
		int64_t sum = token_sum(s->again, row->input_tokens_usage);
		s->again = sum == IPF_ABSENT ? s->again : sum;
	}
	if (again || !measured || !row->ok || !verdict_valid_count(row->input_tokens_usage) || row->input_tokens_usage == 0)
		return;
	bool reported = verdict_valid_count(row->cached_tokens);
	int64_t input = token_sum(s->input, row->input_tokens_usage);
	int64_t cached = token_sum(s->cached, reported ? row->cached_tokens : 0);
	if (input == IPF_ABSENT || cached == IPF_ABSENT)
		return;
	s->requests++;
	s->input = input;
	s->cached = cached;
	s->reported |= reported;
	int64_t asked = verdict_valid_count(row->asked_input_tokens) ? token_sum(s->asked, row->asked_input_tokens)
	                                                             : IPF_ABSENT;
	if (asked == IPF_ABSENT)
		return;
	s->asked = asked;
	s->received += row->input_tokens_usage;
}

/* By the counters of the servers, over one run: of several, nobody knows which one the hits belong to. */
static bool judge_counters(const struct warm_cache *w, struct verdict_check *check)
{
	const struct warm_cache_sums *s = &w->sums;
	char share[32], possible[32];
	if (!w->counted || w->parts != 1 || w->shard || s->input == 0 || w->reuse.input_tokens == 0)
		return true;
	const double all = (double)s->input + (double)s->again, first = possible_of(w);
	const double most = fmin(1, (first * (double)s->input + (double)s->again) / all);
	const double excess = w->counters - most - slack(w, first) * (double)s->input / all;
	if (excess > 0 && !w->filled)
		verdict_check_add(
			check, VERDICT_DOUBTFUL,
			"%s of the tokens looked up in the server's prefix cache were there, by its own counters; the "
			"trace allows at most %s: it was warm from earlier requests, or shared with others",
			verdict_percent(w->counters, share), verdict_percent(most, possible));
	return verdict_figure(check->figures, "cache_counters_share", w->counters) &&
	       verdict_figure(check->figures, "cache_possible", w->known ? w->possible : most);
}

/* A cache filled on purpose that lost the prompts again, as one that is too small does. */
static void judge_filled(const struct warm_cache *w, double share, struct verdict_check *check)
{
	const struct warm_cache_sums *s = &w->sums;
	const double most = 1 - (double)s->requests * VERDICT_WARM_BLOCK / (double)s->input;
	char text[32];
	if (w->filled && !w->live && w->parts == 1 && share < VERDICT_FILLED_DOUBTFUL * most)
		verdict_check_add(
			check, VERDICT_DOUBTFUL,
			"only %s of the input tokens were in the server's prefix cache, which was declared warm: it may "
			"be too small",
			verdict_percent(share, text));
}

bool warm_cache_judge(const struct warm_cache *w, struct verdict_check *check)
{
	const struct warm_cache_finding found = worst_of(w);
	char share[32], possible[32];
	if (isnan(found.share))
		return judge_counters(w, check);
	judge_filled(w, found.share, check);
	/* a search's, it is said already that earlier runs sent these prompts */
	bool said = w->known || w->filled || json_object_get(check->figures, "prompts_of_earlier_runs");
	if (found.excess > 0 && !said)
		verdict_check_add(
			check, VERDICT_DOUBTFUL,
			"%s of the input tokens were in the server's prefix cache, the trace allows at most %s: it was "
			"warm from earlier requests%s, or shared with others",
			verdict_percent(found.share, share), verdict_percent(found.possible, possible),
			w->parts > 1 ? ", such as those of the repeat before" : "");
	return verdict_figure(check->figures, "cached_share", found.share) &&
	       verdict_figure(check->figures, "cache_possible", w->known ? w->possible : found.possible);
}

void warm_cache_release(struct warm_cache *w)
{
	seen_numbers_release(&w->sent);
}
