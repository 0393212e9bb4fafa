#include "tokenizer/pretokenizer.h"

#include "tokenizer/part_config.h"
#include "tokenizer/splitter.h"

#include <stdlib.h>

struct pretokenizer_sequence {
	struct pretokenizer base;
	size_t count;
	struct pretokenizer *parts[];
};

static int split_sequence(const struct pretokenizer *self, struct slice text, struct text_pieces *out,
                          struct ipf_error *err)
{
	const struct pretokenizer_sequence *s = (const struct pretokenizer_sequence *)self;
	struct text_pieces turns[2] = {{.count = 0}, {.count = 0}};
	struct text_pieces *from = &turns[0];
	int status = 0;

	if (s->count == 0) {
		add_part(out, text, 0, text.len);
		return text_pieces_status(out, err);
	}
	if (s->count == 1)
		return s->parts[0]->split(s->parts[0], text, out, err);
	from->head = out->head;
	status = s->parts[0]->split(s->parts[0], text, from, err);
	for (size_t i = 1; i < s->count && status == 0; i++) {
		struct text_pieces *to = i + 1 == s->count ? out : &turns[i & 1];
		if (to != out)
			text_pieces_clear(to);
		size_t begin = 0;
		for (size_t k = 0; k < from->count && status == 0; k++) {
			struct slice piece = text_pieces_at(from, k);
			to->head = head_behind(from->heads, begin);
			status = s->parts[i]->split(s->parts[i], piece, to, err);
			begin += piece.len;
		}
		if (status == 0)
			status = text_pieces_status(from, err);
		from = to;
	}
	text_pieces_release(&turns[0]);
	text_pieces_release(&turns[1]);
	return status < 0 ? -1 : text_pieces_status(out, err);
}

static void free_sequence(struct pretokenizer *self)
{
	struct pretokenizer_sequence *s = (struct pretokenizer_sequence *)self;
	for (size_t i = 0; i < s->count; i++)
		s->parts[i]->free(s->parts[i]);
	free(s);
}

static int sequence_new(struct pretokenizer **pretokenizer, const json_t *config, struct ipf_error *err)
{
	const json_t *list = json_object_get(config, "pretokenizers");
	size_t count = json_array_size(list);

	if (!json_is_array(list))
		return config_refuse("pre_tokenizer: Sequence", "pretokenizers", "a list", err);
	struct pretokenizer_sequence *s = calloc(1, sizeof *s + count * sizeof *s->parts);
	if (!s)
		return ipf_error_memory(err);
	s->base = (struct pretokenizer){split_sequence, free_sequence};
	for (size_t i = 0; i < count; i++) {
		struct pretokenizer *part = NULL;
		int status = pretokenizer_new(&part, json_array_get(list, i), err);
		if (status == 0 && !part)
			status = config_refuse("pre_tokenizer: Sequence", "pretokenizers", "objects", err);
		if (status < 0) {
			free_sequence(&s->base);
			return -1;
		}
		s->parts[s->count++] = part;
	}
	*pretokenizer = &s->base;
	return 0;
}

int pretokenizer_new(struct pretokenizer **pretokenizer, const json_t *config, struct ipf_error *err)
{
	static const char *const names[] = {"Sequence",   "Split",           "Digits",           "Punctuation",
	                                    "Whitespace", "WhitespaceSplit", "BertPreTokenizer", "CharDelimiterSplit",
	                                    "Delimiter",  "UnicodeScripts",  "FixedLength",      "Metaspace",
	                                    "ByteLevel"};
	static pretokenizer_maker *const makers[] = {
		sequence_new,
		pretokenizer_split,
		pretokenizer_digits,
		pretokenizer_punctuation,
		pretokenizer_whitespace,
		pretokenizer_whitespace_split,
		pretokenizer_bert,
		pretokenizer_delimiter,
		pretokenizer_delimiter,
		pretokenizer_scripts,
		pretokenizer_fixed_length,
		pretokenizer_metaspace,
		pretokenizer_byte_level,
	};
	*pretokenizer = NULL;
	if (!config || json_is_null(config))
		return 0;
	int k = config_type(config, "pre_tokenizer", names, sizeof names / sizeof *names, err);
	return k < 0 ? -1 : makers[k](pretokenizer, config, err);
}
