/* Changes the length of texts, in tokens: cuts them, or extends them with other texts of the same data. */
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
	struct exact_text *exact; /* adds words if no cut gives the exact length */
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
/* Returns a text of exactly `count` tokens: the text itself, a part of it, or a new text in the memory of `space`. To
 * extend it, texts of the pool are appended, from a random one on; with an empty pool the text stays too short. */
struct slice fit_length_to(struct fit_length *f, struct slice text, int64_t count, struct rng *rng,
                           struct draft *space);
void fit_length_release(struct fit_length *f);

#endif
