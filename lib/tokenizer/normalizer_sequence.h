/* A sequence of normalizers: each takes the result of the one before. */
#ifndef IPF_TOKENIZER_NORMALIZER_SEQUENCE_H
#define IPF_TOKENIZER_NORMALIZER_SEQUENCE_H

#include "tokenizer/normalizer.h"

/* An empty sequence with room for `most` parts; NULL: out of memory. It owns the parts added. */
struct normalizer *normalizer_sequence_new(size_t most, struct ipf_error *err);
void normalizer_sequence_add(struct normalizer *sequence, struct normalizer *part);

#endif
