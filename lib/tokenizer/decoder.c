#include "tokenizer/decoder.h"

#include "tokenizer/part_config.h"

#include <stdlib.h>

struct decoder_sequence {
	struct decoder base;
	size_t count;
	struct decoder *parts[];
};

static int apply_sequence(const struct decoder *self, const struct text_pieces *tokens, struct text_pieces *out,
                          struct ipf_error *err)
{
	const struct decoder_sequence *s = (const struct decoder_sequence *)self;
	struct text_pieces turns[2] = {{.count = 0}, {.count = 0}};
	const struct text_pieces *from = tokens;
	int status = 0;

	for (size_t i = 0; i < s->count && status == 0; i++) {
		struct text_pieces *to = i + 1 == s->count ? out : &turns[i & 1];
		if (to != out)
			text_pieces_clear(to);
		status = s->parts[i]->apply(s->parts[i], from, to, err);
		from = to;
	}
	for (size_t i = 0; !s->count && i < tokens->count; i++)
		text_pieces_add(out, text_pieces_at(tokens, i).data, text_pieces_at(tokens, i).len);
	text_pieces_release(&turns[0]);
	text_pieces_release(&turns[1]);
	return status < 0 ? -1 : text_pieces_status(out, err);
}

static void free_sequence(struct decoder *self)
{
	struct decoder_sequence *s = (struct decoder_sequence *)self;
	for (size_t i = 0; i < s->count; i++)
		s->parts[i]->free(s->parts[i]);
	free(s);
}

static int sequence_new(struct decoder **decoder, const json_t *config, struct ipf_error *err)
{
	const json_t *list = json_object_get(config, "decoders");
	size_t count = json_array_size(list);

	if (!json_is_array(list))
		return config_refuse("decoder: Sequence", "decoders", "a list", err);
	struct decoder_sequence *s = calloc(1, sizeof *s + count * sizeof *s->parts);
	if (!s)
		return ipf_error_memory(err);
	s->base = (struct decoder){apply_sequence, free_sequence};
	for (size_t i = 0; i < count; i++) {
		struct decoder *part = NULL;
		int status = decoder_new(&part, json_array_get(list, i), err);
		if (status == 0 && !part)
			status = config_refuse("decoder: Sequence", "decoders", "objects", err);
		if (status < 0) {
			free_sequence(&s->base);
			return -1;
		}
		s->parts[s->count++] = part;
	}
	*decoder = &s->base;
	return 0;
}

int decoder_new(struct decoder **decoder, const json_t *config, struct ipf_error *err)
{
	static const char *const names[] = {"Sequence",  "ByteLevel",  "ByteFallback", "Fuse",    "WordPiece",
	                                    "Metaspace", "BPEDecoder", "Strip",        "Replace", "CTC"};
	static decoder_maker *const makers[] = {sequence_new,      decoder_byte_level, decoder_byte_fallback, decoder_fuse,
	                                        decoder_wordpiece, decoder_metaspace,  decoder_bpe,           decoder_strip,
	                                        decoder_replace,   decoder_ctc};
	*decoder = NULL;
	if (!config || json_is_null(config))
		return 0;
	int k = config_type(config, "decoder", names, sizeof names / sizeof *names, err);
	return k < 0 ? -1 : makers[k](decoder, config, err);
}
