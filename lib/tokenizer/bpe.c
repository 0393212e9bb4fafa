/* The BPE model: a word's first symbols, and which way its merging goes. */
#include "tokenizer/bpe.h"

#include <stdlib.h>

/* The id of one character (or byte) of a word, with the affixes that stand at the word's ends. */
static uint32_t affixed_symbol(const struct bpe *b, const char *at, size_t len, bool first, bool last,
                               struct buffer *text)
{
	buffer_clear(text);
	if (!first)
		buffer_slice(text, buffer_all(&b->prefix));
	buffer_append(text, at, len);
	if (last)
		buffer_slice(text, buffer_all(&b->suffix));
	return vocabulary_find(b->vocabulary, text->data, text->len);
}

/* Symbols while they are found: unknown characters wait, since neighbours may be fused. */
struct symbols {
	uint32_t *ids, *starts; /* starts may be NULL */
	size_t count;
	bool unknown;
	uint32_t unknown_start;
};

static void add_symbol(struct symbols *s, uint32_t id, size_t start)
{
	s->ids[s->count] = id;
	if (s->starts)
		s->starts[s->count] = (uint32_t)start;
	s->count++;
}

static void flush_unknown(const struct bpe *b, struct symbols *s)
{
	if (s->unknown)
		add_symbol(s, b->unk, s->unknown_start);
	s->unknown = false;
}

/* A character that is not in the vocabulary: its bytes' tokens where there are all of them, else the unknown token,
 * else nothing. The reference lets bytes overtake an unknown that waits; so do we. */
static void add_unknown(const struct bpe *b, struct symbols *s, const char *text, size_t len, size_t start)
{
	if (b->byte_fallback) {
		size_t known = 0;
		while (known < len && b->fallback[(unsigned char)text[known]] != VOCABULARY_NONE)
			known++;
		if (known == len) {
			for (size_t i = 0; i < len; i++)
				add_symbol(s, b->fallback[(unsigned char)text[i]], start + i);
			return;
		}
	}
	if (b->unk == VOCABULARY_NONE)
		return;
	if (s->unknown && b->fuse_unk)
		return;
	flush_unknown(b, s);
	s->unknown = true;
	s->unknown_start = (uint32_t)start;
}

static size_t character(const struct bpe *b, const char *at)
{
	unsigned char c = (unsigned char)*at;
	return b->vocabulary->byte_mode || c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

/* What the reference would see of a byte: the UTF-8 of the character that stands for it. */
static size_t as_reference(const struct bpe *b, const char *at, size_t len, char text[4])
{
	if (!b->vocabulary->byte_mode) {
		memcpy(text, at, len);
		return len;
	}
	return utf8_put(text, byte_level_char((unsigned char)*at));
}

static uint32_t plain_symbol(const struct bpe *b, const char *at, size_t len)
{
	const unsigned char *s = (const unsigned char *)at;
	if (len == 1)
		return b->vocabulary->byte_mode ? b->bytes[s[0]] : b->chars[s[0]];
	if (len == 4)
		return vocabulary_find(b->vocabulary, at, len);
	const char *next = at;
	return b->chars[utf8_next(&next)];
}

/* A character may give up to four symbols, one for each of its bytes; never more than bytes. */
size_t bpe_symbol_spans(const struct bpe *b, const char *word, size_t begin, size_t end, bool last, uint32_t *ids,
                        uint32_t *starts)
{
	struct symbols s = {.ids = ids, .starts = starts};
	struct buffer text = {0};
	char unknown[4];

	for (size_t i = begin; i < end;) {
		size_t len = character(b, word + i);
		uint32_t id = b->affixes ? affixed_symbol(b, word + i, len, i == 0, last && i + len == end, &text)
		                         : plain_symbol(b, word + i, len);
		if (id != VOCABULARY_NONE) {
			flush_unknown(b, &s);
			add_symbol(&s, id, i);
		} else {
			size_t spelled = as_reference(b, word + i, len, unknown);
			add_unknown(b, &s, unknown, spelled, i);
		}
		i += len;
	}
	flush_unknown(b, &s);
	buffer_release(&text);
	return s.count;
}

static int encode_short(const struct bpe *b, const char *word, size_t len, struct token_ids *ids, struct ipf_error *err)
{
	if (!token_ids_grow(ids, len))
		return ipf_error_memory(err);
	uint32_t *to = ids->ids + ids->count;
	if (bpe_is_plain(b, word, len)) {
		ids->count += bpe_merge_bytes(b, word, len, to);
		return 0;
	}
	ids->count += bpe_merge(b, to, bpe_symbol_spans(b, word, 0, len, true, to, NULL));
	return 0;
}

static int bpe_encode(const struct model *self, void *scratch, const char *word, size_t len, struct token_ids *ids,
                      struct ipf_error *err)
{
	const struct bpe *b = (const struct bpe *)self;
	(void)scratch;
	if (b->ignore_merges || !b->affixes) {
		uint32_t id = vocabulary_find(b->vocabulary, word, len);
		if (id != VOCABULARY_NONE && (b->ignore_merges || bpe_is_whole(b, id)))
			return token_ids_add(ids, id) ? 0 : ipf_error_memory(err);
	}
	return len <= BPE_SHORT ? encode_short(b, word, len, ids, err) : bpe_encode_long(b, word, len, ids, err);
}

static void bpe_free(struct model *self)
{
	struct bpe *b = (struct bpe *)self;
	buffer_release(&b->prefix);
	buffer_release(&b->suffix);
	free(b);
}

static int read_affix(struct bpe *b, const json_t *config, const char *name, struct buffer *affix,
                      struct ipf_error *err)
{
	const json_t *value = json_object_get(config, name);
	if (!value || json_is_null(value))
		return 0;
	if (!json_is_string(value))
		return ipf_error_set(err, IPF_INPUT, "model.%s: expected a string", name);
	if (!b->vocabulary->byte_mode)
		buffer_append(affix, json_string_value(value), json_string_length(value));
	else if (!byte_level_bytes(json_string_value(value), json_string_length(value), affix))
		return ipf_error_set(err, IPF_INPUT, "model.%s: has characters that no byte stands for", name);
	if (affix->len)
		b->affixes = true;
	return 0;
}

static int read_flag(const json_t *config, const char *name, bool *flag, struct ipf_error *err)
{
	const json_t *value = json_object_get(config, name);
	if (value && !json_is_null(value) && !json_is_boolean(value))
		return ipf_error_set(err, IPF_INPUT, "model.%s: expected true or false", name);
	*flag = json_is_true(value);
	return 0;
}

static int read_config(struct bpe *b, const json_t *config, struct ipf_error *err)
{
	const json_t *unk = json_object_get(config, "unk_token"), *dropout = json_object_get(config, "dropout");

	if (read_affix(b, config, "continuing_subword_prefix", &b->prefix, err) < 0 ||
	    read_affix(b, config, "end_of_word_suffix", &b->suffix, err) < 0 ||
	    read_flag(config, "fuse_unk", &b->fuse_unk, err) < 0 ||
	    read_flag(config, "byte_fallback", &b->byte_fallback, err) < 0 ||
	    read_flag(config, "ignore_merges", &b->ignore_merges, err) < 0)
		return -1;
	if (unk && !json_is_null(unk) && !json_is_string(unk))
		return ipf_error_set(err, IPF_INPUT, "model.unk_token: expected a string");
	if (dropout && !json_is_null(dropout) && !json_is_number(dropout))
		return ipf_error_set(err, IPF_INPUT, "model.dropout: expected a number");
	if (dropout && json_number_value(dropout) != 0)
		return ipf_error_set(err, IPF_INPUT, "model.dropout: encoding by chance is not supported");
	b->unk = VOCABULARY_NONE;
	if (unk && !json_is_null(unk)) {
		struct buffer text = {0};
		if (!b->vocabulary->byte_mode)
			buffer_append(&text, json_string_value(unk), json_string_length(unk));
		else
			byte_level_bytes(json_string_value(unk), json_string_length(unk), &text);
		/* Not in the vocabulary: the reference fails when it needs it, which a whole alphabet never does. */
		b->unk = vocabulary_find(b->vocabulary, text.data, text.len);
		buffer_release(&text);
	}
	for (unsigned i = 0; i < 256; i++) {
		char name[8];
		int n = snprintf(name, sizeof name, "<0x%02X>", i);
		b->fallback[i] = b->byte_fallback ? vocabulary_find(b->vocabulary, name, (size_t)n) : VOCABULARY_NONE;
		/* The reference would write the bytes of the affix, too. */
		if (b->fallback[i] != VOCABULARY_NONE && (b->prefix.len || b->suffix.len))
			return ipf_error_set(err, IPF_INPUT, "model.byte_fallback: with %s is not supported",
			                     b->prefix.len ? "continuing_subword_prefix" : "end_of_word_suffix");
	}
	return 0;
}

int bpe_new(struct model **model, const json_t *config, const struct compiled *block,
            const struct vocabulary *vocabulary, struct ipf_error *err)
{
	struct bpe *b = calloc(1, sizeof *b);
	if (!b)
		return ipf_error_memory(err);
	b->model = (struct model){.encode = bpe_encode, .free = bpe_free};
	b->vocabulary = vocabulary;
	b->pairs.slots = compiled_section(block, SECTION_PAIRS);
	b->pairs.count = compiled_bytes(block, SECTION_PAIRS) / sizeof *b->pairs.slots;
	b->pairs.rows = compiled_section(block, SECTION_PAIR_ROWS);
	b->outside = vocabulary->size;
	b->merged = compiled_section(block, SECTION_MERGED);
	b->bytes = compiled_section(block, SECTION_BYTES);
	b->byte_pairs = compiled_section(block, SECTION_BYTE_PAIRS);
	b->chars = compiled_section(block, SECTION_CHARS);
	b->whole = compiled_section(block, SECTION_WHOLE);
	b->neighbours = compiled_bytes(block, SECTION_NEIGHBOURS) ? compiled_section(block, SECTION_NEIGHBOURS) : NULL;
	if (read_config(b, config, err) < 0) {
		bpe_free(&b->model);
		return -1;
	}
	b->every_byte = vocabulary->byte_mode && !b->affixes;
	for (unsigned i = 0; i < 256 && b->every_byte; i++)
		b->every_byte = b->bytes[i] != VOCABULARY_NONE;
	*model = &b->model;
	return 0;
}

const uint64_t *bpe_neighbours(const struct model *model)
{
	const struct bpe *b = (const struct bpe *)model;
	bool bytes = b->byte_fallback;
	/* A byte below 0x80 is a character: if that has a token, its byte is never asked for. */
	for (unsigned i = 0; i < 256 && bytes; i++)
		bytes = b->fallback[i] != VOCABULARY_NONE || (i < 128 && b->chars[i] != VOCABULARY_NONE);
	/* Unknown characters may be fused, or left out so that those beside them meet; a whole text may be a token. */
	return bytes && !b->affixes && !b->ignore_merges ? b->neighbours : NULL;
}

int bpe_mark_whole(struct compiled *block, struct ipf_error *err)
{
	struct vocabulary v;
	struct model *model = NULL;
	struct token_ids ids = {0};
	uint64_t *whole = (uint64_t *)(void *)((char *)block->memory + block->header->sections[SECTION_WHOLE].offset);
	json_t *config = NULL;
	int status = -1;

	compiled_vocabulary(block, &v);
	config = json_loadb(compiled_section(block, SECTION_CONFIG), compiled_bytes(block, SECTION_CONFIG), JSON_ALLOW_NUL,
	                    NULL);
	if (!config || bpe_new(&model, json_object_get(config, "model"), block, &v, err) < 0) {
		ipf_error_set(err, IPF_INPUT, "not JSON that can be read");
		goto out;
	}
	struct bpe *b = (struct bpe *)model;
	for (uint32_t id = 0; id < v.size; id++) {
		size_t len = v.word_offsets[id + 1] - v.word_offsets[id];
		ids.count = 0;
		if (!len || len > 65536 || b->affixes)
			continue;
		const char *word = v.word + v.word_offsets[id];
		if ((len <= BPE_SHORT ? encode_short(b, word, len, &ids, err) : bpe_encode_long(b, word, len, &ids, err)) < 0)
			goto out;
		if (ids.count == 1 && ids.ids[0] == id)
			whole[id / 64] |= UINT64_C(1) << (id % 64);
	}
	status = 0;
out:
	if (model)
		model->free(model);
	token_ids_release(&ids);
	json_decref(config);
	return status;
}
