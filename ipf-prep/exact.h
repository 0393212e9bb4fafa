/* Prose of so many tokens of a model's tokenizer, and not of so many bytes (synth.h), put together of pieces whose tokens stay what they
 * are whatever follows: each piece begins at a blank, where no tokenizer of running text joins two words.
 *
 *     struct exact exact = {.tokens = tokens};
 *     exact_block(&exact, …, &out); …
 *     exact_release(&exact);
 */
#ifndef PREP_EXACT_H
#define PREP_EXACT_H

#include "openers.h"
#include "rng.h"

struct exact {
	const struct tokens *tokens;
	struct openers first, next;  /* for the beginning of a text, and behind other text; made when first wanted */
	double bytes_a_token;        /* of prose; 0: not measured yet */
	struct buffer text;
	bool made, failed;           /* memory ran out */
};

/* How a piece begins, so that it differs from its siblings in its first token: by its place among them and what they stand behind. */
struct exact_start {
	bool apart;      /* it has siblings, or may have */
	uint64_t parent;
	uint32_t place;
};

/* Appends the first `count` tokens of the text of `full` tokens that stands for a block: a function of its id, its start, `full`, the salt
 * and the tokenizer alone, and of whether it begins the text. */
void exact_block(struct exact *e, uint64_t id, const struct exact_start *start, const char *salt, int64_t full, int64_t count, struct buffer *out);

/* Appends prose that has `count` tokens where it stands. `start` may be NULL. */
void exact_prose(struct exact *e, struct rng *rng, const struct exact_start *start, const char *salt, int64_t count, struct buffer *out);

/* Makes the whole text have `count` tokens, should it not: what is too much at its end is cut, what is missing is made. How many it has. */
int64_t exact_settle(struct exact *e, struct rng *rng, int64_t count, struct buffer *text);

/* Brings a text that lacks a few tokens to `count`, by words of one token each; the last word may go for it. */
void exact_fill(struct exact *e, struct rng *rng, int64_t count, struct buffer *text);

/* A text of `count` tokens that ends in an empty line, so that what follows it leaves them as they are. */
void exact_prefix(struct exact *e, struct rng *rng, int64_t count, struct buffer *out);

void exact_release(struct exact *e);

#endif
