/* Normalizers: a text to its normalized form. normalizer.c picks the maker by type and has Sequence; normalizer_chars.c
 * has those looking at one character at a time, normalizer_forms.c Unicode's normal forms, normalizer_texts.c those
 * looking at the whole text, normalizer_charsmap.c SentencePiece's map. */
#ifndef IPF_TOKENIZER_NORMALIZER_H
#define IPF_TOKENIZER_NORMALIZER_H

#include "buffer.h"
#include "error.h"

#include <jansson.h>

/* Changed, and the first character of the text is gone. Metaspace's "first" scheme needs to know. */
#define NORMALIZER_CUT 2

struct normalizer {
	/* Returns 0 if the text is in normalized form already: nothing is appended to `out`. This is cheap and tried first,
	 * since most texts are. Returns 1 or NORMALIZER_CUT if the normalized text was appended, -1 on error. Takes and
	 * gives valid UTF-8. */
	int (*apply)(const struct normalizer *self, struct slice text, struct buffer *out, struct ipf_error *err);
	void (*free)(struct normalizer *self);
};

/* `config` is the value of "normalizer". NULL or JSON null gives *normalizer = NULL. */
int normalizer_new(struct normalizer **normalizer, const json_t *config, struct ipf_error *err);

/* ---- the normalizers by type ---- */

typedef int normalizer_maker(struct normalizer **normalizer, const json_t *config, struct ipf_error *err);

normalizer_maker normalizer_bert, normalizer_lowercase, normalizer_strip_accents, normalizer_nmt, normalizer_byte_level,
	normalizer_strip, normalizer_prepend, normalizer_replace, normalizer_charsmap, normalizer_nfc, normalizer_nfd,
	normalizer_nfkc, normalizer_nfkd;

#endif
