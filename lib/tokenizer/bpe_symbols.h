/* The symbols a BPE model starts from: the characters or bytes of a word, unmerged. */
#ifndef IPF_TOKENIZER_BPE_SYMBOLS_H
#define IPF_TOKENIZER_BPE_SYMBOLS_H

#include "tokenizer/bpe_tables.h"

/* A part of a word, word[begin, end): its symbols at first, after merging its tokens. */
struct bpe_span {
	const char *word;
	size_t begin, end;
	bool plain;             /* each byte is a symbol: ids and starts follow from the bytes and are not filled yet */
	uint32_t *ids, *starts; /* starts[i]: where in the word symbol i begins */
	size_t count;
};

/* Fills ids, starts (unless NULL) and count. There are never more symbols than bytes. `last`: the word ends where the
 * span does. */
void bpe_symbols(const struct bpe *b, struct bpe_span *s, bool last);

#endif
