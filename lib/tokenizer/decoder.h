/* Decoders: the texts of tokens to the texts of the output. decoder.c picks the maker by type and has Sequence,
 * decoder_bytes.c ByteLevel, ByteFallback and Fuse, decoder_texts.c the others. */
#ifndef IPF_TOKENIZER_DECODER_H
#define IPF_TOKENIZER_DECODER_H

#include "tokenizer/text_pieces.h"

#include <jansson.h>

struct decoder;

/* Takes and gives valid UTF-8. The number of texts may change (Fuse, ByteFallback and others); the caller joins them.
 */
typedef int decoder_function(const struct decoder *self, const struct text_pieces *tokens, struct text_pieces *out,
                             struct ipf_error *err);

struct decoder {
	decoder_function *apply;
	void (*free)(struct decoder *self);
};

/* `config` is the value of "decoder". NULL or JSON null gives *decoder = NULL: the tokens are then joined by spaces. */
int decoder_new(struct decoder **decoder, const json_t *config, struct ipf_error *err);

/* ---- the decoders by type ---- */

typedef int decoder_maker(struct decoder **decoder, const json_t *config, struct ipf_error *err);

decoder_maker decoder_byte_level, decoder_byte_fallback, decoder_fuse, decoder_wordpiece, decoder_metaspace,
	decoder_bpe, decoder_strip, decoder_replace, decoder_ctc;

#endif
