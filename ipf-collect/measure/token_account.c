#include "measure/token_account.h"

#include "absent.h"
#include "token_count.h"

/* Tokens without text an answer may have, and those around the name and the arguments of a tool call. */
#define BARE_TOKENS 16
#define CALL_TOKENS 48

const char *const token_source_names[] = {"", "usage", "tokenizer", "ids", "events", "none"};

/* ---- usage ---- */

/* Is the usage of the events, `last` being the last one, each event's own? If it covers the answer so far, it neither
 * falls nor stays the same while content comes, and has enough tokens for it. */
static bool is_of_each(const struct response *r, int64_t last, int64_t most, bool constant)
{
	const int64_t events = (int64_t)r->events_count, bytes = (int64_t)(r->content_bytes + r->reasoning_bytes);
	if (events < 2 || r->output_tokens > last)
		return false;
	return last < most || (constant && events > 2) || (last < events && bytes > TOKEN_BYTES * last);
}

/* The sum of the events' own usage, unless they cover the answer so far; IPF_ABSENT. */
static int64_t sum_of_events(const struct response *r)
{
	int64_t sum = 0, last = 0, most = 0;
	bool constant = true;
	for (size_t i = 0; i < r->events_count; i++) {
		int64_t usage = r->events[i].usage_tokens;
		if (usage == IPF_ABSENT)
			return IPF_ABSENT;
		constant &= i == 0 || usage == last;
		most = usage > most ? usage : most;
		last = usage;
		sum = token_sum(sum, usage);
	}
	return is_of_each(r, last, most, constant) ? sum : IPF_ABSENT;
}

/* IPF_ABSENT also for a count that is no total: 0 although there is content, or less than the content events and
 * followed by content. */
static int64_t total_by_usage(const struct response *r, bool *each)
{
	int64_t sum = sum_of_events(r), output = sum != IPF_ABSENT ? sum : r->output_tokens;
	*each = sum != IPF_ABSENT;
	bool nothing = output == 0 && r->events_count > 0,
		 part = r->usage_events < r->events_count && output < (int64_t)r->events_count;
	return nothing || part ? IPF_ABSENT : output;
}

/* Does the usage count reasoning besides the output? */
static bool reasoning_beside(const struct response *r, int64_t output)
{
	bool sums = r->total_tokens != IPF_ABSENT && r->input_tokens != IPF_ABSENT;
	return r->reasoning_tokens > 0 && (r->reasoning_tokens > output ||
	                                   (sums && r->total_tokens - r->input_tokens == output + r->reasoning_tokens));
}

static int64_t output_by_usage(const struct response *r, bool *each)
{
	int64_t output = total_by_usage(r, each);
	return output != IPF_ABSENT && reasoning_beside(r, output) ? token_sum(output, r->reasoning_tokens) : output;
}

/* ---- content ---- */

/* The most tokens the content can have. */
static int64_t most_of_content(const struct response *r)
{
	return (int64_t)(r->content_bytes + r->reasoning_bytes + r->bare_events + BARE_TOKENS +
	                 CALL_TOKENS * (size_t)r->calls.count);
}

/* Tokens of unsent reasoning, out of `output`; `visible`: the fewest the content has. */
static int64_t count_hidden(const struct response *r, int64_t output, int64_t visible)
{
	int64_t hidden = 0, reasoning = r->reasoning_tokens;
	if (r->whole || r->events_count == 0 || output <= visible)
		return 0;
	if (reasoning > 0 &&
	    (r->reasoning_events == 0 || r->hidden_reasoning || reasoning > (int64_t)r->reasoning_bytes + BARE_TOKENS))
		hidden = reasoning - (int64_t)r->reasoning_events;
	else if (r->hidden_reasoning && (r->reasoning_events == 0 || output > most_of_content(r)))
		hidden = output - visible;
	return hidden > output - visible ? output - visible : hidden > 0 ? hidden : 0;
}

/* Contradicted usage has wrong counts of hidden tokens as well: uses the other counts. */
static void count_otherwise(struct token_account *a, const struct response *r, const struct token_evidence *e)
{
	if (e->tokenizer != IPF_ABSENT)
		*a = (struct token_account){e->tokenizer, TOKENS_TOKENIZER, 0, a->doubt, false};
	else if (e->ids > 0)
		*a = (struct token_account){e->ids, TOKENS_IDS, 0, a->doubt, false};
	else if (r->events_count && !e->one_piece)
		*a = (struct token_account){(int64_t)r->events_count, TOKENS_EVENTS, 0, a->doubt, false};
	else if (e->one_piece)
		*a = (struct token_account){IPF_ABSENT, TOKENS_NONE, 0, a->doubt, false};
}

static void check_usage(struct token_account *a, const struct response *r, const struct token_evidence *e)
{
	const int64_t events = (int64_t)r->events_count, usage = a->output;
	const int64_t bytes = (int64_t)(r->content_bytes + r->reasoning_bytes);
	if (events > usage) {
		a->doubt = RESULT_USAGE_BELOW_EVENTS;
		if (e->tokenizer != IPF_ABSENT || e->ids > 0 || bytes / TOKEN_BYTES > usage)
			count_otherwise(a, r, e);
	} else if (r->events_count && bytes > 0 && usage - a->hidden > most_of_content(r) && usage != e->asked) {
		a->doubt = RESULT_USAGE_ABOVE_CONTENT;
		if (e->asked != IPF_ABSENT && usage > e->asked)
			count_otherwise(a, r, e);
	}
}

struct token_account token_account_make(const struct response *r, const struct token_evidence *e)
{
	struct token_account a = {.output = IPF_ABSENT};
	int64_t visible = (int64_t)r->events_count;
	if (r->no_text) {
		bool ignored;
		a.output = total_by_usage(r, &ignored);
		a.source = a.output == IPF_ABSENT ? TOKENS_UNKNOWN : TOKENS_USAGE;
		return a;
	}
	a.output = output_by_usage(r, &a.each);
	if (a.output == IPF_ABSENT) {
		count_otherwise(&a, r, e);
		return a;
	}
	a.source = TOKENS_USAGE;
	if (e->tokenizer > visible)
		visible = e->tokenizer;
	a.hidden = count_hidden(r, a.output, visible);
	check_usage(&a, r, e);
	if (r->cached_tokens > r->input_tokens && r->input_tokens > 0)
		a.doubt = RESULT_CACHED_ABOVE_INPUT;
	return a;
}
