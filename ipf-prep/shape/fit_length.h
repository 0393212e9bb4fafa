/* Texts made to a length in tokens: cut, or extended by further text of the same data. */
#ifndef PREP_STRETCH_H
#define PREP_STRETCH_H

#include "draft/draft.h"
#include "text/exact_text.h"

/* A piece of the data's texts, to extend with. */
struct piece {
	size_t begin, len;
};

struct fit_length {
	const struct token_counter *tokens;
	struct exact_text *exact; /* where no cut gives so many tokens */
	struct buffer pool;       /* of the texts that came by, up to a limit */
	struct piece *pieces;
	size_t count, cap;
	bool failed;
	struct buffer text;
};

/* So much text is enough for extended prompts not to be made of the same few pieces. */
#define FIT_LENGTH_READY ((size_t)64 << 10)

/* Remembers a text. */
void fit_length_feed(struct fit_length *s, struct slice text);
/* The text with exactly `count` tokens, where further text begins at a piece that `rng` picks: itself, a part of it, or
 * a new text in `space`'s memory. */
struct slice fit_length_to(struct fit_length *s, struct slice text, int64_t count, struct rng *rng,
                           struct draft *space);
void fit_length_release(struct fit_length *s);

#endif
