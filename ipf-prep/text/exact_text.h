/* Prose of so many tokens of a model's tokenizer, and not of so many bytes (synthetic_text.h), put together of pieces
 * whose tokens stay what they are whatever follows: each piece begins at a blank, where no tokenizer of running text
 * joins two words.
 *
 *     struct exact_text exact = {.tokens = tokens};
 *     exact_text_block(&exact, …, &out); …
 *     exact_text_release(&exact);
 */
#ifndef PREP_EXACT_H
#define PREP_EXACT_H

#include "text/opening_words.h"
#include "stats/rng.h"

struct exact_text {
	const struct token_counter *tokens;
	const char *salt;                 /* changes the words that pieces begin with, and the text of blocks; NULL: none */
	struct opening_words first, next; /* for the beginning of a text, and behind other text; made when first wanted */
	double bytes_a_token;             /* of prose; 0: not measured yet */
	struct buffer text;
	bool made, failed; /* memory ran out */
};

/* How a piece begins, so that it differs from its siblings in its first token: by its place among them and what they
 * stand behind. */
struct exact_text_start {
	bool apart; /* it has siblings, or may have */
	uint64_t parent;
	uint32_t place;
};

/* Appends the first `count` tokens of the text of `full` tokens that stands for a block: a function of its id, its
 * start, `full`, the salt and the tokenizer alone, and of whether it begins the text. */
void exact_text_block(struct exact_text *e, uint64_t id, const struct exact_text_start *start, int64_t full,
                      int64_t count, struct buffer *out);

/* Appends prose that has `count` tokens where it stands. `start` may be NULL. */
void exact_text_prose(struct exact_text *e, struct rng *rng, const struct exact_text_start *start, int64_t count,
                      struct buffer *out);

/* Makes the whole text have `count` tokens, should it not: what is too much at its end is cut, what is missing is made.
 * How many it has. */
int64_t exact_text_fit(struct exact_text *e, struct rng *rng, int64_t count, struct buffer *text);

/* Brings a text that lacks a few tokens to `count`, by words of one token each; the last word may go for it. */
void exact_text_pad(struct exact_text *e, struct rng *rng, int64_t count, struct buffer *text);

/* A text of `count` tokens that ends in an empty line, so that what follows it leaves them as they are. */
void exact_text_prefix(struct exact_text *e, struct rng *rng, int64_t count, struct buffer *out);

void exact_text_release(struct exact_text *e);

#endif
