/* Brings texts to a length in tokens: cuts them, or extends them by other texts of the same data. */
#ifndef PREP_FIT_LENGTH_H
#define PREP_FIT_LENGTH_H

#include "draft/draft.h"
#include "text/exact_text.h"

/* A text in the pool. */
struct pool_text {
	size_t begin, len;
};

struct fit_length {
	const struct token_counter *tokens;
	struct exact_text *exact; /* fills up a text that no cut brings to the length */
	struct buffer pool;       /* texts of the data, the first MiB */
	struct pool_text *pool_texts;
	size_t count, cap;
	bool failed; /* memory ran out */
	struct buffer text;
};

/* With this many bytes in the pool, extended prompts are not all made of the same few texts. */
#define FIT_LENGTH_READY ((size_t)64 << 10)

/* Adds a text to the pool. */
void fit_length_learn(struct fit_length *f, struct slice text);
/* The text brought to exactly `count` tokens: itself, a part of it, or a new text in the memory of `space`. It is
 * extended by the texts of the pool from one that `rng` picks on; with an empty pool it stays too short. */
struct slice fit_length_to(struct fit_length *f, struct slice text, int64_t count, struct rng *rng,
                           struct draft *space);
void fit_length_release(struct fit_length *f);

#endif
