/* Normalizers by name, and sequences of them. */
#include "tokenizer/normalize.h"

#include <stdlib.h>

struct sequence {
	struct normalizer base;
	size_t count;
	struct normalizer *parts[];
};

int normalizer_new(struct normalizer **normalizer, const json_t *config, struct ipf_error *err)
{
	static const char *const names[] = {
		"Sequence", "BertNormalizer", "Lowercase",   "StripAccents", "Nmt", "ByteLevel", "Strip",
		"Prepend",  "Replace",        "Precompiled", "NFC",          "NFD", "NFKC",      "NFKD"};
	static normalizer_maker *const makers[] = {
		normalizer_sequence,   normalizer_bert,  normalizer_lowercase, normalizer_strip_accents, normalizer_nmt,
		normalizer_byte_level, normalizer_strip, normalizer_prepend,   normalizer_replace,       normalizer_charsmap,
		normalizer_nfc,        normalizer_nfd,   normalizer_nfkc,      normalizer_nfkd};
	*normalizer = NULL;
	if (!config || json_is_null(config))
		return 0;
	int k = config_type(config, "normalizer", names, sizeof names / sizeof *names, err);
	return k < 0 ? -1 : makers[k](normalizer, config, err);
}

/* Each part's result is the next one's text: two buffers in turn, the last result goes to `out`. */
static int apply_sequence(const struct normalizer *self, struct slice text, struct buffer *out, struct ipf_error *err)
{
	const struct sequence *s = (const struct sequence *)self;
	struct buffer turns[2] = {{0}, {0}};
	int status = 0, turn = 0, changed = 0;

	for (size_t i = 0; i < s->count && status >= 0; i++) {
		struct buffer *to = &turns[turn];
		buffer_clear(to);
		status = s->parts[i]->apply(s->parts[i], text, to, err);
		if (status > 0 && to->failed)
			status = out_of_memory(err);
		if (status <= 0)
			continue;
		text = to->len ? buffer_all(to) : (struct slice){"", 0};
		changed = status > changed ? status : changed;
		turn = !turn;
	}
	if (status >= 0 && changed)
		buffer_slice(out, text);
	buffer_release(&turns[0]);
	buffer_release(&turns[1]);
	return status < 0 ? -1 : changed;
}

static void free_sequence(struct normalizer *self)
{
	struct sequence *s = (struct sequence *)self;
	for (size_t i = 0; i < s->count; i++)
		s->parts[i]->free(s->parts[i]);
	free(s);
}

struct normalizer *sequence_new(size_t most, struct ipf_error *err)
{
	struct sequence *s = calloc(1, sizeof *s + most * sizeof *s->parts);
	if (!s) {
		out_of_memory(err);
		return NULL;
	}
	s->base = (struct normalizer){apply_sequence, free_sequence};
	return &s->base;
}

void sequence_add(struct normalizer *sequence, struct normalizer *part)
{
	struct sequence *s = (struct sequence *)sequence;
	s->parts[s->count++] = part;
}

int normalizer_sequence(struct normalizer **normalizer, const json_t *config, struct ipf_error *err)
{
	const json_t *list = json_object_get(config, "normalizers");
	size_t count = json_array_size(list);

	if (!json_is_array(list))
		return config_refuse("normalizer: Sequence", "normalizers", "a list", err);
	struct normalizer *s = sequence_new(count, err);
	if (!s)
		return -1;
	for (size_t i = 0; i < count; i++) {
		struct normalizer *part;
		const json_t *entry = json_array_get(list, i);
		if (json_is_null(entry) || normalizer_new(&part, entry, err) < 0) {
			free_sequence(s);
			return json_is_null(entry) ? config_refuse("normalizer: Sequence", "normalizers", "objects", err) : -1;
		}
		sequence_add(s, part);
	}
	*normalizer = s;
	return 0;
}
