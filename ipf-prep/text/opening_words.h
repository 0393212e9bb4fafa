/* Words to begin texts with. No two of them share their first token, and no synthetic sentence begins with the first
 * token of one. All suitable words of the tokenizer's vocabulary are used: each is a single token at its place,
 * also with a colon or another word after it.
 */
#ifndef PREP_OPENING_WORDS_H
#define PREP_OPENING_WORDS_H

#include "buffer.h"
#include "tokenizer/token_counter.h"

struct opening_words {
	struct buffer text; /* the words, one after another */
	struct opening_word {
		uint32_t at, len;
	} * words; /* in a random order depending on the tokenizer only */
	size_t count, cap;
	bool failed; /* out of memory */
};

/* `before` is the text before the words, separated by a space; NULL: they begin a text. */
void opening_words_make(struct opening_words *o, const struct token_counter *tokens, const char *before);
/* Returns word i modulo their number, without a space; absent if there are none. */
struct slice opening_words_at(const struct opening_words *o, uint64_t i);
void opening_words_release(struct opening_words *o);

#endif
