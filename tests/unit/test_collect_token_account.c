/* Which count of tokens holds, out of all a response says of them. */
#include "unit.h"

#include "absent.h"
#include "measure/token_account.h"

/* A streamed answer of `events` events of `bytes` bytes each, and its usage; 0: there is none. */
struct answer {
	const char *what;
	int events, bytes;
	int64_t output, reasoning, total, input, asked, tokenizer;
	int thoughts; /* the events', those with reasoning, from the first on */
	int64_t tokens, hidden;
	enum token_source source;
	enum result_doubt doubt;
};

static const struct answer answers[] = {
	{"usage agrees", 20, 5, 20, 0, 0, 0, 0, 0, 0, 20, 0, TOKENS_USAGE, RESULT_NO_DOUBT},
	{"no usage", 20, 5, 0, 0, 0, 0, 0, 0, 0, 20, 0, TOKENS_EVENTS, RESULT_NO_DOUBT},
	{"no usage, a tokenizer", 20, 5, 0, 0, 0, 0, 0, 31, 0, 31, 0, TOKENS_TOKENIZER, RESULT_NO_DOUBT},
	{"hidden reasoning", 20, 5, 520, 500, 0, 0, 0, 0, 0, 520, 500, TOKENS_USAGE, RESULT_NO_DOUBT},
	{"streamed reasoning", 20, 5, 20, 12, 0, 0, 0, 0, 12, 20, 0, TOKENS_USAGE, RESULT_NO_DOUBT},
	{"a summary of it only", 20, 5, 520, 500, 0, 0, 0, 0, 4, 520, 496, TOKENS_USAGE, RESULT_NO_DOUBT},
	{"more reasoning than output", 20, 5, 20, 500, 0, 0, 0, 0, 0, 520, 500, TOKENS_USAGE, RESULT_NO_DOUBT},
	{"besides, says the total", 20, 5, 20, 20, 50, 10, 0, 0, 0, 40, 20, TOKENS_USAGE, RESULT_NO_DOUBT},
	{"among them, says the total", 20, 5, 20, 12, 30, 10, 0, 0, 12, 20, 0, TOKENS_USAGE, RESULT_NO_DOUBT},
	{"one token for twenty events", 20, 5, 1, 0, 0, 0, 0, 0, 0, 20, 0, TOKENS_EVENTS, RESULT_USAGE_BELOW_EVENTS},
	{"a tokenizer knows better", 20, 5, 1, 0, 0, 0, 0, 25, 0, 25, 0, TOKENS_TOKENIZER, RESULT_USAGE_BELOW_EVENTS},
	{"a few empty-handed events", 20, 5, 18, 0, 0, 0, 0, 0, 0, 18, 0, TOKENS_USAGE, RESULT_USAGE_BELOW_EVENTS},
	{"more tokens than bytes", 20, 5, 900, 0, 0, 0, 0, 0, 0, 900, 0, TOKENS_USAGE, RESULT_USAGE_ABOVE_CONTENT},
	{"more than bytes, and than asked", 20, 5, 900, 0, 0, 0, 20, 0, 0, 20, 0, TOKENS_EVENTS,
     RESULT_USAGE_ABOVE_CONTENT},
	{"more than bytes, as asked", 20, 5, 900, 0, 0, 0, 900, 0, 0, 900, 0, TOKENS_USAGE, RESULT_NO_DOUBT},
	{"hidden, and yet too many", 20, 5, 9000, 500, 0, 0, 20, 0, 0, 20, 0, TOKENS_EVENTS, RESULT_USAGE_ABOVE_CONTENT},
};

static void every_contradiction_has_a_name(void **state)
{
	(void)state;
	static struct response_event events[32];
	for (size_t i = 0; i < sizeof events / sizeof *events; i++)
		events[i] = (struct response_event){.usage_tokens = IPF_ABSENT, .token_ids = IPF_ABSENT};
	for (size_t i = 0; i < sizeof answers / sizeof *answers; i++) {
		const struct answer *a = &answers[i];
		size_t bytes = (size_t)(a->events * a->bytes), thoughts = (size_t)(a->thoughts * a->bytes);
		const struct response r = {.events = events,
		                           .events_count = (size_t)a->events,
		                           .usage_events = (size_t)a->events,
		                           .output_tokens = a->output ? a->output : IPF_ABSENT,
		                           .reasoning_tokens = a->reasoning ? a->reasoning : IPF_ABSENT,
		                           .total_tokens = a->total ? a->total : IPF_ABSENT,
		                           .input_tokens = a->input ? a->input : IPF_ABSENT,
		                           .cached_tokens = IPF_ABSENT,
		                           .content_bytes = bytes - thoughts,
		                           .reasoning_bytes = thoughts,
		                           .reasoning_events = (size_t)a->thoughts};
		const struct token_account got = token_account_make(
			&r, &(struct token_evidence){.tokenizer = a->tokenizer ? a->tokenizer : IPF_ABSENT,
		                                 .asked = a->asked ? a->asked : IPF_ABSENT});
		if (got.output != a->tokens || got.hidden != a->hidden || got.source != a->source || got.doubt != a->doubt)
			fail_msg("%s: %lld tokens from %s, %lld hidden, doubt \"%s\"", a->what, (long long)got.output,
			         token_source_names[got.source], (long long)got.hidden, result_doubt_names[got.doubt]);
	}
}

/* The usage of each event: of the answer so far, or its own. */
static void usage_of_events(void **state)
{
	(void)state;
	static const struct {
		int64_t usage[4];
		int64_t tokens;
		bool each;
	} cases[] = {
		{{1, 2, 3, 4}, 4, false}, {{2, 4, 6, 8}, 8, false}, {{1, 1, 1, 1}, 4, true},
		{{3, 2, 3, 2}, 10, true}, {{9, 9, 9, 9}, 36, true}, {{1, 2, 5, 4}, 12, true},
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct response_event events[4];
		for (int k = 0; k < 4; k++)
			events[k] = (struct response_event){.usage_tokens = cases[i].usage[k], .token_ids = IPF_ABSENT};
		const struct response r = {.events = events,
		                           .events_count = 4,
		                           .usage_events = 4,
		                           .output_tokens = cases[i].usage[3],
		                           .reasoning_tokens = IPF_ABSENT,
		                           .total_tokens = IPF_ABSENT,
		                           .input_tokens = IPF_ABSENT,
		                           .cached_tokens = IPF_ABSENT,
		                           .content_bytes = 40};
		const struct token_account got = token_account_make(
			&r, &(struct token_evidence){.tokenizer = IPF_ABSENT, .asked = IPF_ABSENT});
		if (got.output != cases[i].tokens || got.each != cases[i].each)
			fail_msg("case %zu: %lld tokens, %s", i, (long long)got.output, got.each ? "each" : "so far");
	}
}

/* ---- each rule at its limit ---- */

enum { ZERO = -1 }; /* a count of 0; 0 stands for none */

static int64_t count_of(int64_t count)
{
	return count == 0 ? IPF_ABSENT : count == ZERO ? 0 : count;
}

/* The counts and bytes of a response. */
struct said {
	size_t events, content, reasoning; /* content events, and bytes */
	size_t reasoning_events, bare, calls;
	size_t later; /* events after the last usage */
	bool whole, hidden, no_text;
	int64_t usage[5]; /* the events' own */
	int64_t output, thought, input, cached, total;
	int64_t tokenizer, ids, asked;
	bool one_piece;
};

struct rule {
	const char *what;
	struct said said;
	struct token_account expected;
};

static struct token_account account_of(const struct said *s)
{
	struct response_event events[16];
	for (int i = 0; i < 16; i++)
		events[i] = (struct response_event){.usage_tokens = i < 5 ? count_of(s->usage[i]) : IPF_ABSENT,
		                                    .token_ids = IPF_ABSENT};
	const struct response r = {.events = events,
	                           .events_count = s->events,
	                           .usage_events = s->events - s->later,
	                           .whole = s->whole,
	                           .hidden_reasoning = s->hidden,
	                           .no_text = s->no_text,
	                           .output_tokens = count_of(s->output),
	                           .reasoning_tokens = count_of(s->thought),
	                           .input_tokens = count_of(s->input),
	                           .cached_tokens = count_of(s->cached),
	                           .total_tokens = count_of(s->total),
	                           .content_bytes = s->content,
	                           .reasoning_bytes = s->reasoning,
	                           .reasoning_events = s->reasoning_events,
	                           .bare_events = s->bare,
	                           .calls = {.count = s->calls}};
	const struct token_evidence e = {
		.tokenizer = count_of(s->tokenizer), .ids = s->ids, .asked = count_of(s->asked), .one_piece = s->one_piece};
	return token_account_make(&r, &e);
}

static void follow(const struct rule *rules, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct token_account got = account_of(&rules[i].said), *e = &rules[i].expected;
		if (got.output != e->output || got.source != e->source || got.hidden != e->hidden || got.doubt != e->doubt ||
		    got.each != e->each)
			fail_msg("%s: %lld tokens from %s, %lld hidden, doubt \"%s\", %s", rules[i].what, (long long)got.output,
			         token_source_names[got.source], (long long)got.hidden, result_doubt_names[got.doubt],
			         got.each ? "each" : "so far");
	}
}
#define FOLLOW(rules_) follow(rules_, sizeof(rules_) / sizeof *(rules_))

/* The last usage is 1 or 2, of four events: a token has 16 bytes at most. */
static void events_have_their_own_usage_if_it_cannot_cover_the_answer(void **state)
{
	(void)state;
	static const struct rule rules[] = {
		{"one event", {1, 9, .usage = {5}, .output = 5}, {.output = 5, .source = TOKENS_USAGE}},
		{"two, the second one less",
	     {2, 9, .usage = {5, 3}, .output = 3},
	     {.output = 8, .source = TOKENS_USAGE, .each = true}},
		{"two of one token",
	     {2, 9, .usage = {1, 1}, .output = 1},
	     {.output = 1, .source = TOKENS_USAGE, .doubt = RESULT_USAGE_BELOW_EVENTS}},
		{"three of one token",
	     {3, 9, .usage = {1, 1, 1}, .output = 1},
	     {.output = 3, .source = TOKENS_USAGE, .each = true}},
		{"the whole is more than the last",
	     {4, 9, .usage = {1, 1, 1, 1}, .output = 4},
	     {.output = 4, .source = TOKENS_USAGE}},
		{"an event without usage", {4, 99, .usage = {3, 2, 0, 3}, .output = 4}, {.output = 4, .source = TOKENS_USAGE}},
		{"16 bytes a token",
	     {4, 20, 12, .usage = {1, 1, 2, 2}, .output = 2},
	     {.output = 2, .source = TOKENS_USAGE, .doubt = RESULT_USAGE_BELOW_EVENTS}},
		{"more than 16",
	     {4, 20, 13, .usage = {1, 1, 2, 2}, .output = 2},
	     {.output = 6, .source = TOKENS_USAGE, .each = true}},
		{"as many tokens as events, long ones",
	     {4, 99, .usage = {1, 2, 3, 4}, .output = 4},
	     {.output = 4, .source = TOKENS_USAGE}},
		{"more tokens than events, long ones",
	     {4, 99, .usage = {1, 2, 3, 5}, .output = 5},
	     {.output = 5, .source = TOKENS_USAGE}},
		{"no tokens at all",
	     {4, 9, .usage = {ZERO, ZERO, ZERO, ZERO}, .output = ZERO},
	     {.output = 4, .source = TOKENS_EVENTS}},
	};
	FOLLOW(rules);
}

static void usage_before_the_end_is_no_total(void **state)
{
	(void)state;
	static const struct rule rules[] = {
		{"nothing came", {0, .output = ZERO}, {.output = 0, .source = TOKENS_USAGE}},
		{"no tokens for an event", {1, 9, .output = ZERO}, {.output = 1, .source = TOKENS_EVENTS}},
		{"one event more than tokens", {4, 9, .later = 1, .output = 3}, {.output = 4, .source = TOKENS_EVENTS}},
		{"as many tokens as events", {4, 9, .later = 1, .output = 4}, {.output = 4, .source = TOKENS_USAGE}},
		{"few tokens, at the end",
	     {4, 9, .output = 3},
	     {.output = 3, .source = TOKENS_USAGE, .doubt = RESULT_USAGE_BELOW_EVENTS}},
	};
	FOLLOW(rules);
}

static void reasoning_is_beside_the_output_if_sums_say_so(void **state)
{
	(void)state;
	static const struct rule rules[] = {
		{"one token beside",
	     {5, 20, .output = 5, .thought = 1, .input = 10, .total = 16},
	     {.output = 6, .source = TOKENS_USAGE, .hidden = 1}},
		{"one token among",
	     {5, 20, .output = 6, .thought = 1, .input = 10, .total = 16},
	     {.output = 6, .source = TOKENS_USAGE, .hidden = 1}},
		{"as much as output",
	     {5, 20, .output = 20, .thought = 20},
	     {.output = 20, .source = TOKENS_USAGE, .hidden = 15}},
		{"more than output",
	     {5, 20, .output = 20, .thought = 21},
	     {.output = 41, .source = TOKENS_USAGE, .hidden = 21}},
		{"no input known",
	     {5, 20, .output = 20, .thought = 11, .total = 30},
	     {.output = 20, .source = TOKENS_USAGE, .hidden = 11}},
		{"no total known",
	     {5, 20, .output = 20, .thought = 11, .input = 30},
	     {.output = 20, .source = TOKENS_USAGE, .hidden = 11}},
	};
	FOLLOW(rules);
}

static void reasoning_is_hidden_if_it_cannot_be_in_the_content(void **state)
{
	(void)state;
	static const struct rule rules[] = {
		{"no event of it", {5, 20, .output = 15, .thought = 10}, {.output = 15, .source = TOKENS_USAGE, .hidden = 10}},
		{"one token of it", {5, 20, .output = 6, .thought = 1}, {.output = 6, .source = TOKENS_USAGE, .hidden = 1}},
		{"more than the rest",
	     {5, 20, .output = 30, .thought = 28},
	     {.output = 30, .source = TOKENS_USAGE, .hidden = 25}},
		{"more than the tokenizer leaves",
	     {5, 30, .output = 50, .thought = 48, .tokenizer = 20},
	     {.output = 50, .source = TOKENS_USAGE, .hidden = 30}},
		{"a tokenizer with less than events",
	     {5, 30, .output = 50, .thought = 48, .tokenizer = 3},
	     {.output = 50, .source = TOKENS_USAGE, .hidden = 45}},
		{"an event of it", {5, 20, 40, 1, .output = 15, .thought = 10}, {.output = 15, .source = TOKENS_USAGE}},
		{"tokens for its bytes", {5, 20, 40, 2, .output = 60, .thought = 56}, {.output = 60, .source = TOKENS_USAGE}},
		{"too many for its bytes",
	     {5, 20, 40, 2, .output = 62, .thought = 57},
	     {.output = 62, .source = TOKENS_USAGE, .hidden = 55}},
		{"said to be hidden",
	     {5, 20, 40, 2, .hidden = true, .output = 35, .thought = 30},
	     {.output = 35, .source = TOKENS_USAGE, .hidden = 28}},
		{"fewer tokens of it than events",
	     {6, 20, 40, 5, .hidden = true, .output = 9, .thought = 3},
	     {.output = 9, .source = TOKENS_USAGE}},
		{"a whole answer", {1, 40, .whole = true, .output = 50, .thought = 30}, {.output = 50, .source = TOKENS_USAGE}},
		{"a stream of one event",
	     {1, 40, .output = 50, .thought = 30},
	     {.output = 50, .source = TOKENS_USAGE, .hidden = 30}},
		{"no event at all", {0, .output = 50, .thought = 30}, {.output = 50, .source = TOKENS_USAGE}},
		{"hidden, uncounted",
	     {5, 20, .hidden = true, .output = 15},
	     {.output = 15, .source = TOKENS_USAGE, .hidden = 10}},
		{"hidden, counted as none",
	     {5, 20, .hidden = true, .output = 15, .thought = ZERO},
	     {.output = 15, .source = TOKENS_USAGE, .hidden = 10}},
		{"all tokens seen", {5, 20, .hidden = true, .output = 5}, {.output = 5, .source = TOKENS_USAGE}},
		{"a part seen, tokens for all bytes",
	     {5, 20, 10, 1, .hidden = true, .output = 46},
	     {.output = 46, .source = TOKENS_USAGE}},
		{"a part seen, too many for bytes",
	     {5, 20, 10, 1, .hidden = true, .output = 47},
	     {.output = 47, .source = TOKENS_USAGE, .hidden = 42}},
	};
	FOLLOW(rules);
}

/* Content of 40 + 10 bytes, three events without content and two calls have at most 40 + 10 + 3 + 16 + 2 * 48 tokens.
 */
static void usage_is_held_against_the_content(void **state)
{
	(void)state;
	static const struct rule rules[] = {
		{"as many as can be",
	     {5, 40, 10, .bare = 3, .calls = 2, .output = 165},
	     {.output = 165, .source = TOKENS_USAGE}},
		{"one more",
	     {5, 40, 10, .bare = 3, .calls = 2, .output = 166},
	     {.output = 166, .source = TOKENS_USAGE, .doubt = RESULT_USAGE_ABOVE_CONTENT}},
		{"one more, as asked",
	     {5, 40, 10, .bare = 3, .calls = 2, .output = 166, .asked = 166},
	     {.output = 166, .source = TOKENS_USAGE}},
		{"one more, less than asked",
	     {5, 40, 10, .bare = 3, .calls = 2, .output = 166, .asked = 167},
	     {.output = 166, .source = TOKENS_USAGE, .doubt = RESULT_USAGE_ABOVE_CONTENT}},
		{"one more, more than asked",
	     {5, 40, 10, .bare = 3, .calls = 2, .output = 166, .asked = 165},
	     {.output = 5, .source = TOKENS_EVENTS, .doubt = RESULT_USAGE_ABOVE_CONTENT}},
		{"a byte", {1, 1, .output = 18}, {.output = 18, .source = TOKENS_USAGE, .doubt = RESULT_USAGE_ABOVE_CONTENT}},
		{"no byte", {1, .output = 18}, {.output = 18, .source = TOKENS_USAGE}},
		{"bytes of no event", {0, 9, .output = 99}, {.output = 99, .source = TOKENS_USAGE}},
		{"four times 16 bytes",
	     {5, 32, 32, .output = 3},
	     {.output = 5, .source = TOKENS_EVENTS, .doubt = RESULT_USAGE_BELOW_EVENTS}},
		{"less than that",
	     {5, 32, 31, .output = 3},
	     {.output = 3, .source = TOKENS_USAGE, .doubt = RESULT_USAGE_BELOW_EVENTS}},
		{"an id",
	     {5, 9, .output = 3, .ids = 1},
	     {.output = 1, .source = TOKENS_IDS, .doubt = RESULT_USAGE_BELOW_EVENTS}},
		{"a tokenizer",
	     {5, 9, .output = 3, .tokenizer = 6},
	     {.output = 6, .source = TOKENS_TOKENIZER, .doubt = RESULT_USAGE_BELOW_EVENTS}},
	};
	FOLLOW(rules);
}

static void other_counts_stand_in_for_usage(void **state)
{
	(void)state;
	static const struct rule rules[] = {
		{"a tokenizer before ids", {5, 9, .tokenizer = 7, .ids = 6}, {.output = 7, .source = TOKENS_TOKENIZER}},
		{"ids before events", {5, 9, .ids = 6, .one_piece = true}, {.output = 6, .source = TOKENS_IDS}},
		{"one id", {1, 9, .ids = 1}, {.output = 1, .source = TOKENS_IDS}},
		{"events", {.events = 5, .content = 9}, {.output = 5, .source = TOKENS_EVENTS}},
		{"one piece", {5, 9, .one_piece = true}, {.output = IPF_ABSENT, .source = TOKENS_NONE}},
		{"nothing", {0}, {.output = IPF_ABSENT, .source = TOKENS_UNKNOWN}},
		{"data", {1, .no_text = true, .output = 7, .thought = 9}, {.output = 7, .source = TOKENS_USAGE}},
		{"data without usage", {1, .no_text = true, .ids = 1}, {.output = IPF_ABSENT, .source = TOKENS_UNKNOWN}},
	};
	FOLLOW(rules);
}

static void more_cached_than_input_is_a_contradiction(void **state)
{
	(void)state;
	static const struct rule rules[] = {
		{"all", {5, 9, .output = 5, .input = 10, .cached = 10}, {.output = 5, .source = TOKENS_USAGE}},
		{"more",
	     {5, 9, .output = 5, .input = 1, .cached = 2},
	     {.output = 5, .source = TOKENS_USAGE, .doubt = RESULT_CACHED_ABOVE_INPUT}},
		{"no input", {5, 9, .output = 5, .input = ZERO, .cached = 2}, {.output = 5, .source = TOKENS_USAGE}},
		{"input not known", {5, 9, .output = 5, .cached = 2}, {.output = 5, .source = TOKENS_USAGE}},
	};
	FOLLOW(rules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_contradiction_has_a_name),
		cmocka_unit_test(usage_of_events),
		cmocka_unit_test(events_have_their_own_usage_if_it_cannot_cover_the_answer),
		cmocka_unit_test(usage_before_the_end_is_no_total),
		cmocka_unit_test(reasoning_is_beside_the_output_if_sums_say_so),
		cmocka_unit_test(reasoning_is_hidden_if_it_cannot_be_in_the_content),
		cmocka_unit_test(usage_is_held_against_the_content),
		cmocka_unit_test(other_counts_stand_in_for_usage),
		cmocka_unit_test(more_cached_than_input_is_a_contradiction),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
