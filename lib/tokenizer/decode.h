/* Decoders among themselves. */
#ifndef IPF_TOKENIZER_DECODE_H
#define IPF_TOKENIZER_DECODE_H

#include "tokenizer/config.h"

typedef int decoder_maker(struct decoder **decoder, const json_t *config, struct ipf_error *err);

/* One a type (decode.c: Sequence; decode_bytes.c: ByteLevel, ByteFallback, Fuse; decode_texts.c: the others). */
decoder_maker decoder_sequence, decoder_byte_level, decoder_byte_fallback, decoder_fuse, decoder_wordpiece,
	decoder_metaspace, decoder_bpe, decoder_strip, decoder_replace, decoder_ctc;

/* A decoder that has nothing but its function. */
int decoder_plain(struct decoder **decoder,
                  int (*apply)(const struct decoder *self, const struct text_pieces *tokens, struct text_pieces *out,
                               struct ipf_error *err),
                  struct ipf_error *err);

static inline int decoded(const struct text_pieces *out, struct ipf_error *err)
{
	return out->failed || out->text.failed ? ipf_error_memory(err) : 0;
}

#endif
