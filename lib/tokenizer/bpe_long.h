/* Encodes long words in linear time. */
#ifndef IPF_TOKENIZER_BPE_LONG_H
#define IPF_TOKENIZER_BPE_LONG_H

#include "tokenizer/bpe_tables.h"

/* Appends the ids of a word of any length. */
int bpe_encode_long(const struct bpe *b, const char *word, size_t len, struct token_ids *ids, struct ipf_error *err);

#endif
