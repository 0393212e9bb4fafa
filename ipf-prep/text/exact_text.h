/* Synthetic prose with an exact number of tokens of a model's tokenizer (synthetic_text.h gives a number of bytes).
 *
 * It consists of pieces whose tokens do not depend on later text: each piece begins at a space, and no tokenizer for
 * running text merges two words across a space.
 *
 *     struct exact_text exact = {.tokens = counter};
 *     exact_text_block(&exact, …, &out); …
 *     exact_text_release(&exact);
 *
 * Out of memory sets `failed`; check it after the last call.
 */
#ifndef PREP_EXACT_TEXT_H
#define PREP_EXACT_TEXT_H

#include "stats/rng.h"
#include "text/opening_words.h"

struct exact_text {
	const struct token_counter *tokens;
	const char *salt; /* changes the openers of pieces and the text of blocks; NULL: none */
	/* The rest is set by the functions. */
	struct opening_words first, next; /* for the beginning of a text, and after other text; made at first use */
	double bytes_a_token;             /* in prose; 0: not measured yet */
	struct buffer text;
	bool made, failed;
};

/* How a piece begins, so it differs from its siblings in its first token. Its opener follows from the text before the
 * siblings and from its place among them. */
struct exact_text_start {
	bool apart; /* the piece has siblings, or may have */
	uint64_t parent;
	uint32_t place;
};

/* Appends the first `count` tokens of the text of a block, which has `full` tokens. The text depends only on the id,
 * the start, `full`, the salt, the tokenizer, and whether `out` is empty. */
void exact_text_block(struct exact_text *e, uint64_t id, const struct exact_text_start *start, int64_t full,
                      int64_t count, struct buffer *out);

/* Appends prose that adds `count` tokens. `start` may be NULL. */
void exact_text_prose(struct exact_text *e, struct rng *rng, const struct exact_text_start *start, int64_t count,
                      struct buffer *out);

/* Makes the whole text have `count` tokens: cuts its end, or appends prose. Returns the number of tokens it has then,
 * which may differ by a few. */
int64_t exact_text_fit(struct exact_text *e, struct rng *rng, int64_t count, struct buffer *text);

/* Brings a text lacking a few tokens to `count` by appending words of one token each; may remove its last word. */
void exact_text_pad(struct exact_text *e, struct rng *rng, int64_t count, struct buffer *text);

/* Replaces `out` by a text of `count` tokens ending in an empty line, so later text does not change them. */
void exact_text_prefix(struct exact_text *e, struct rng *rng, int64_t count, struct buffer *out);

void exact_text_release(struct exact_text *e);

#endif
