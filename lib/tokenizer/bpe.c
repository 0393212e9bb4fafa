#include "tokenizer/bpe.h"

#include "tokenizer/bpe_long.h"
#include "tokenizer/bpe_merge.h"
#include "tokenizer/byte_level.h"

#include <stdlib.h>
#include <string.h>

static int encode_short(const struct bpe *b, const char *word, size_t len, struct token_ids *ids, struct ipf_error *err)
{
	if (!token_ids_grow(ids, len))
		return ipf_error_memory(err);
	uint32_t *to = ids->ids + ids->count;
	if (bpe_is_plain(b, word, len)) {
		ids->count += bpe_merge_bytes(b, word, len, to);
		return 0;
	}
	struct bpe_span span = {.word = word, .end = len, .ids = to};
	bpe_symbols(b, &span, true);
	ids->count += bpe_merge(b, to, span.count);
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
			return token_ids_push(ids, id) ? 0 : ipf_error_memory(err);
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
		return ipf_error_set(err, IPF_INPUT, "model.%s: expected characters of the byte-level alphabet", name);
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
		return ipf_error_set(err, IPF_INPUT, "model.dropout: random encoding is not supported");
	b->unk = VOCABULARY_NONE;
	if (unk && !json_is_null(unk)) {
		struct buffer text = {0};
		if (!b->vocabulary->byte_mode)
			buffer_append(&text, json_string_value(unk), json_string_length(unk));
		else
			byte_level_bytes(json_string_value(unk), json_string_length(unk), &text);
		/* If it is not in the vocabulary, the reference fails when it needs it. With a complete alphabet it never does.
		 */
		b->unk = vocabulary_find(b->vocabulary, text.data, text.len);
		buffer_release(&text);
	}
	memset(b->fallback, 0xff, sizeof b->fallback);
	if (b->byte_fallback)
		vocabulary_byte_fallback(b->vocabulary, b->fallback);
	/* The reference would also write the bytes of the affix. */
	for (unsigned i = 0; i < 256 && b->affixes; i++)
		if (b->fallback[i] != VOCABULARY_NONE)
			return ipf_error_set(err, IPF_INPUT, "model.byte_fallback is not supported together with %s",
			                     b->prefix.len ? "continuing_subword_prefix" : "end_of_word_suffix");
	return 0;
}

int bpe_new(struct model **model, const json_t *config, const struct compiled_block *block,
            const struct vocabulary *vocabulary, struct ipf_error *err)
{
	struct bpe *b = calloc(1, sizeof *b);
	if (!b)
		return ipf_error_memory(err);
	b->model = (struct model){.encode = bpe_encode, .free = bpe_free};
	b->vocabulary = vocabulary;
	b->outside = vocabulary->size;
	bpe_tables_of(b, block);
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
	/* A byte below 0x80 is a character: if the character has a token, byte fallback never needs the byte. */
	for (unsigned i = 0; i < 256 && bytes; i++)
		bytes = b->fallback[i] != VOCABULARY_NONE || (i < 128 && b->chars[i] != VOCABULARY_NONE);
	/* Otherwise a cut could change the ids: unknown characters may be fused, or left out so that the characters beside
	 * them become neighbours; with ignore_merges a whole text may be a token. */
	return bytes && !b->affixes && !b->ignore_merges ? b->neighbours : NULL;
}

int bpe_mark_whole(struct compiled_block *block, struct ipf_error *err)
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
		ipf_error_set(err, IPF_INPUT, "invalid JSON");
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
