/* Pre-tokenizers: a text to words. pretokenizer.c picks the maker by type and has Sequence; pretokenizer_split.c has
 * Split, pretokenizer_chars.c those looking at one character at a time, pretokenizer_space.c Metaspace and
 * ByteLevel. */
#ifndef IPF_TOKENIZER_PRETOKENIZER_H
#define IPF_TOKENIZER_PRETOKENIZER_H

#include "tokenizer/text_pieces.h"

#include <jansson.h>

struct pretokenizer {
	/* Appends the pieces of `text` to `out`. None is empty: the reference drops empty ones. out->head is the length of
	 * the text's head, see text_pieces.h. */
	int (*split)(const struct pretokenizer *self, struct slice text, struct text_pieces *out, struct ipf_error *err);
	void (*free)(struct pretokenizer *self);
};

/* `config` is the value of "pre_tokenizer". NULL or JSON null gives *pretokenizer = NULL. */
int pretokenizer_new(struct pretokenizer **pretokenizer, const json_t *config, struct ipf_error *err);

/* ---- the pre-tokenizers by type ---- */

typedef int pretokenizer_maker(struct pretokenizer **pretokenizer, const json_t *config, struct ipf_error *err);

pretokenizer_maker pretokenizer_split, pretokenizer_digits, pretokenizer_punctuation, pretokenizer_whitespace,
	pretokenizer_whitespace_split, pretokenizer_bert, pretokenizer_delimiter, pretokenizer_scripts,
	pretokenizer_fixed_length, pretokenizer_metaspace, pretokenizer_byte_level;

#endif
