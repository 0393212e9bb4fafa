/* Makes canaries (canary/canary.h) as parts of requests: numbered from 1, all kinds equally often and in random order.
 *
 *     struct canary_maker maker = {.tokens = tokens, .seed = seed};
 *     while (… canary_maker_next(&maker, false, 2000, &err) == 0)
 *         … maker.number, maker.prompt, maker.input_tokens, maker.output_tokens, maker.tags, maker.body …
 *     canary_maker_release(&maker);
 *
 * The canary of a number depends on the seed, the tokenizer and the length of its context only.
 */
#ifndef PREP_CANARY_MAKER_H
#define PREP_CANARY_MAKER_H

#include "canary/canary.h"
#include "tokenizer/token_counter.h"

/* Longer contexts of the workload are not imitated. */
#define CANARY_CONTEXT_MOST 32768 /* tokens */

struct canary_maker {
	const struct token_counter *tokens;
	uint64_t seed;

	/* the last canary; slices are valid until the next one */
	int64_t number;
	struct slice prompt;   /* plain text: a user's message, or a text to complete */
	int64_t input_tokens;  /* the text's */
	int64_t output_tokens; /* twice the answer's, at least 64 */
	struct slice tags;     /* JSON: {"canary":…} */
	struct slice body;     /* JSON: members of its body for the answer that a model finds most likely */

	struct canary canary;
	struct buffer text, tags_json;
};

/* Makes the next canary. `completion`: for an API without messages. `context_tokens` is the wanted length of a recall's
 * prompt, which is at most CANARY_CONTEXT_MOST. */
int canary_maker_next(struct canary_maker *m, bool completion, int64_t context_tokens, struct ipf_error *err);
void canary_maker_release(struct canary_maker *m);

#endif
