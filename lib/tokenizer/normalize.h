/* Normalizers among themselves. */
#ifndef IPF_TOKENIZER_NORMALIZE_H
#define IPF_TOKENIZER_NORMALIZE_H

#include "tokenizer/config.h"

typedef int normalizer_maker(struct normalizer **normalizer, const json_t *config, struct ipf_error *err);

/* One a type (normalize.c, normalize_chars.c, normalize_forms.c, normalize_texts.c, normalize_charsmap.c). */
normalizer_maker normalizer_sequence, normalizer_bert, normalizer_lowercase, normalizer_strip_accents, normalizer_nmt,
	normalizer_byte_level, normalizer_strip, normalizer_prepend, normalizer_replace, normalizer_charsmap,
	normalizer_nfc, normalizer_nfd, normalizer_nfkc, normalizer_nfkd;

/* An empty sequence with room for `most` parts, NULL when memory runs out; what is added belongs to it. */
struct normalizer *sequence_new(size_t most, struct ipf_error *err);
void sequence_add(struct normalizer *sequence, struct normalizer *part);

static inline void append_character(struct buffer *out, uint32_t c)
{
	char *to = buffer_reserve(out, 4);
	if (to)
		out->len += utf8_put(to, c);
}

static inline int out_of_memory(struct ipf_error *err)
{
	return ipf_error_memory(err);
}

#endif
