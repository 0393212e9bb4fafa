/* Words to begin texts with, of which no two have their first token in common, nor with any made sentence: out of the
 * tokenizer's own vocabulary, as many as it has. Each is a single token where it stands, and stays one with a colon or
 * a word behind it. */
#ifndef PREP_OPENERS_H
#define PREP_OPENERS_H

#include "buffer.h"
#include "tokenizer/token_counter.h"

struct opening_words {
	struct buffer text; /* the words, one after another */
	struct opener {
		uint32_t at, len;
	} * words; /* in an order of chance that is the tokenizer's */
	size_t count, cap;
	bool failed;
};

/* `before`: the text that they are counted behind, a blank between (" " is theirs); NULL: at the beginning of a text.
 */
void opening_words_make(struct opening_words *o, const struct token_counter *tokens, const char *before);
/* Number `i` of them, round again beyond the last; absent where there is none. Without a blank. */
struct slice opening_words_at(const struct opening_words *o, uint64_t i);
void opening_words_release(struct opening_words *o);

#endif
