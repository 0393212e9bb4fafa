/* Prose of so many tokens of a model's tokenizer, and not of so many bytes (synth.h). */
#ifndef PREP_EXACT_H
#define PREP_EXACT_H

#include "buffer.h"
#include "rng.h"
#include "tokens.h"

/* Appends prose that has `count` tokens where it stands: behind other text it begins with a blank. */
void exact_prose(const struct tokens *tokens, struct rng *rng, int64_t count, struct buffer *out);

/* Appends the first `count` tokens of the text of `full` tokens that stands for a block: a function of its id, `full`, the salt and the
 * tokenizer alone. It begins with a blank and ends with a word, so that blocks can be joined. */
void exact_block(const struct tokens *tokens, uint64_t id, const char *salt, int64_t full, int64_t count, struct buffer *out);

/* Makes the whole text have `count` tokens: what is too much at its end is cut, what is missing is made. */
void exact_settle(const struct tokens *tokens, struct rng *rng, int64_t count, struct buffer *text);

/* A text of `count` tokens that ends in an empty line, so that what follows it leaves them as they are. */
void exact_prefix(const struct tokens *tokens, struct rng *rng, int64_t count, struct buffer *out);

#endif
