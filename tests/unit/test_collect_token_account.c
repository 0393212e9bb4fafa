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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(every_contradiction_has_a_name),
	                                   cmocka_unit_test(usage_of_events)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
