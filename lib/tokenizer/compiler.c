#include "tokenizer/compiler.h"

#include "tokenizer/bpe.h"
#include "tokenizer/bpe_tables.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/character_classes.h"

#include <stdlib.h>
#include <string.h>

/* A token in a message is cut after 60 bytes. */
#define SHOWN(s) (int)((s).len < 60 ? (s).len : 60), (s).data

struct compiler_entry {
	uint32_t id, at, bytes;
};

int compiler_token(struct compiler *c, struct slice text, uint32_t id, struct ipf_error *err)
{
	struct compiler_entry e = {.id = id, .at = (uint32_t)c->names.len, .bytes = (uint32_t)text.len};
	if (c->names.len + text.len > UINT32_MAX)
		return ipf_error_set(err, IPF_INPUT, "model.vocab: the tokens are larger than 4 GiB in total");
	buffer_slice(&c->names, text);
	buffer_append(&c->entries, &e, sizeof e);
	if (id >= c->by_text.size)
		c->by_text.size = id + 1;
	c->by_text.count++;
	return c->names.failed || c->entries.failed ? ipf_error_memory(err) : 0;
}

/* Makes the raw bytes of each token; a token with a character representing no byte stays empty. */
static bool make_words(struct compiled_builder *b, const struct vocabulary *v, uint32_t *longest)
{
	struct buffer *words = &b->sections[SECTION_WORD];
	*longest = 0;
	for (uint32_t id = 0; id < v->size; id++) {
		uint32_t at = (uint32_t)words->len;
		buffer_append(&b->sections[SECTION_WORD_OFFSETS], &at, sizeof at);
		byte_level_bytes(v->text + v->text_offsets[id], v->text_offsets[id + 1] - v->text_offsets[id], words);
		if (words->len - at > *longest)
			*longest = (uint32_t)(words->len - at);
	}
	uint32_t end = (uint32_t)words->len;
	buffer_append(&b->sections[SECTION_WORD_OFFSETS], &end, sizeof end);
	return !words->failed && !b->sections[SECTION_WORD_OFFSETS].failed;
}

/* Sorts the texts by id. */
static int sort_texts(struct compiler *c, struct ipf_error *err)
{
	const struct compiler_entry *entries = (const void *)c->entries.data;
	size_t size = c->by_text.size;
	size_t bytes = (size + 1) * sizeof(uint32_t);
	uint32_t *at = (uint32_t *)(void *)buffer_reserve(&c->builder.sections[SECTION_TEXT_OFFSETS], bytes);
	char *text = buffer_reserve(&c->builder.sections[SECTION_TEXT], c->names.len + 1);
	uint8_t *taken = calloc(size + 1, 1);

	if (!at || !text || !taken) {
		free(taken);
		return ipf_error_memory(err);
	}
	memset(at, 0, bytes);
	for (uint32_t i = 0; i < c->by_text.count; i++) {
		if (taken[entries[i].id]) {
			free(taken);
			struct slice s = {c->names.data + entries[i].at, entries[i].bytes};
			return ipf_error_set(err, IPF_INPUT, "model.vocab: id %u occurs twice, also for \"%.*s\"", entries[i].id,
			                     SHOWN(s));
		}
		taken[entries[i].id] = 1;
		at[entries[i].id + 1] = entries[i].bytes;
	}
	free(taken);
	for (size_t i = 0; i < size; i++)
		at[i + 1] += at[i];
	for (uint32_t i = 0; i < c->by_text.count; i++)
		if (entries[i].bytes)
			memcpy(text + at[entries[i].id], c->names.data + entries[i].at, entries[i].bytes);
	c->builder.sections[SECTION_TEXT_OFFSETS].len = bytes;
	c->builder.sections[SECTION_TEXT].len = c->names.len;
	return 0;
}

int compiler_end_tokens(struct compiler *c, bool allow_repeats, struct ipf_error *err)
{
	struct compiled_builder *b = &c->builder;
	struct vocabulary *v = &c->by_text;

	if (v->count == 0)
		return ipf_error_set(err, IPF_INPUT, "model.vocab: expected at least one token");
	if (sort_texts(c, err) < 0)
		return -1;
	v->text_offsets = v->word_offsets = (const uint32_t *)(const void *)b->sections[SECTION_TEXT_OFFSETS].data;
	v->text = v->word = b->sections[SECTION_TEXT].data;
	for (uint32_t id = 0; id < v->size; id++)
		if (v->text_offsets[id + 1] - v->text_offsets[id] > v->longest)
			v->longest = v->text_offsets[id + 1] - v->text_offsets[id];
	b->header.vocabulary_size = v->size;
	b->header.vocabulary_count = v->count;
	b->header.vocabulary_longest = v->longest;
	if (!vocabulary_make_slots(&c->text_slots, v->text_offsets, v->text, v->size, v->count))
		return ipf_error_memory(err);
	v->slots = (const uint64_t *)(const void *)c->text_slots.data;
	v->slot_mask = (uint32_t)(c->text_slots.len / sizeof(uint64_t) - 1);
	for (uint32_t id = 0; id < v->size && !allow_repeats; id++) {
		struct slice text = vocabulary_text(v, id);
		if (text.data && vocabulary_find(v, text.data, text.len) != id)
			return ipf_error_set(err, IPF_INPUT, "model.vocab: \"%.*s\" occurs twice", SHOWN(text));
	}
	c->next_added = v->count;
	if (!b->header.byte_mode) {
		buffer_slice(&b->sections[SECTION_SLOTS], buffer_all(&c->text_slots));
		return 0;
	}
	if (!make_words(b, v, &b->header.vocabulary_longest) ||
	    !vocabulary_make_slots(&b->sections[SECTION_SLOTS],
	                           (const uint32_t *)(const void *)b->sections[SECTION_WORD_OFFSETS].data,
	                           b->sections[SECTION_WORD].data, v->size, v->count))
		return ipf_error_memory(err);
	return 0;
}

static bool is_byte_token(struct slice s)
{
	return s.len == 6 && memcmp(s.data, "<0x", 3) == 0 && s.data[5] == '>';
}

void compiler_pair(struct compiler *c, uint32_t left, uint32_t right, uint32_t rank)
{
	struct bpe_merge_pair pair = {left, right, rank};
	buffer_append(&c->pairs, &pair, sizeof pair);
}

int compiler_merge(struct compiler *c, struct slice a, struct slice b, size_t prefix, struct ipf_error *err)
{
	uint32_t pair[2] = {vocabulary_find(&c->by_text, a.data, a.len), vocabulary_find(&c->by_text, b.data, b.len)};
	struct slice bad = pair[0] == VOCABULARY_NONE ? a : b;
	uint32_t merged = VOCABULARY_NONE;

	if (pair[0] != VOCABULARY_NONE && pair[1] != VOCABULARY_NONE && b.len >= prefix) {
		buffer_clear(&c->word);
		buffer_slice(&c->word, a);
		buffer_append(&c->word, b.data + prefix, b.len - prefix);
		bad = buffer_all(&c->word);
		if (!c->word.failed)
			merged = vocabulary_find(&c->by_text, bad.data, bad.len);
	}
	if (merged == VOCABULARY_NONE)
		return ipf_error_set(err, IPF_INPUT, "model.merges: entry %u: \"%.*s\" is not in the vocabulary", c->merges,
		                     SHOWN(bad));
	if (c->merges == MAX_MERGES)
		return ipf_error_set(err, IPF_INPUT, "model.merges: expected at most %d merges", MAX_MERGES);
	compiler_pair(c, pair[0], pair[1], c->merges++);
	if (is_byte_token(a) || is_byte_token(b))
		c->byte_parts = true;
	buffer_append(&c->builder.sections[SECTION_MERGED], &merged, sizeof merged);
	return c->pairs.failed || c->builder.sections[SECTION_MERGED].failed ? ipf_error_memory(err) : 0;
}

int compiler_end_merges(struct compiler *c, struct ipf_error *err)
{
	struct compiled_builder *b = &c->builder;
	if (bpe_build_pairs(b, &c->by_text, &c->pairs, err) < 0)
		return -1;
	if (!b->header.byte_mode) {
		bpe_build_chars(b, &c->by_text);
		if (!c->byte_parts)
			bpe_build_neighbours(b, &c->by_text, (const uint32_t *)(const void *)b->sections[SECTION_MERGED].data,
			                     c->merges);
	}
	size_t words = (c->by_text.size + 63) / 64 * 8;
	return compiled_builder_fill(b, SECTION_WHOLE, words, 0) ? 0 : ipf_error_memory(err);
}

/* Returns the record with this id, or NULL. */
static struct added_record *find_added(struct compiler *c, uint32_t id)
{
	struct added_record *r = (void *)c->added.data;
	for (size_t i = 0; i < c->added.len / sizeof *r; i++)
		if (r[i].id == id)
			return &r[i];
	return NULL;
}

static uint32_t find_added_text(const struct compiler *c, struct slice content)
{
	const struct added_record *r = (const void *)c->added.data;
	const struct buffer *texts = &c->builder.sections[SECTION_ADDED_TEXT];
	for (size_t i = 0; i < c->added.len / sizeof *r; i++)
		if (r[i].bytes == content.len && memcmp(texts->data + r[i].text, content.data, content.len) == 0)
			return r[i].id;
	return VOCABULARY_NONE;
}

int compiler_added_token(struct compiler *c, struct slice content, bool has_id, struct added_record record,
                         struct ipf_error *err)
{
	struct buffer *texts = &c->builder.sections[SECTION_ADDED_TEXT];
	if (!content.len)
		return 0;
	if (!has_id)
		record.id = vocabulary_find(&c->by_text, content.data, content.len);
	if (record.id == VOCABULARY_NONE)
		record.id = find_added_text(c, content);
	if (record.id == VOCABULARY_NONE)
		record.id = c->next_added++;
	record.text = (uint32_t)texts->len;
	record.bytes = (uint32_t)content.len;
	buffer_slice(texts, content);
	struct added_record *old = c->added.len ? find_added(c, record.id) : NULL;
	if (old) {
		record.special |= old->special && old->bytes == record.bytes &&
		                  memcmp(texts->data + old->text, content.data, content.len) == 0;
		*old = record;
	} else {
		buffer_append(&c->added, &record, sizeof record);
	}
	return texts->failed || c->added.failed ? ipf_error_memory(err) : 0;
}

int compiler_finish(struct compiler *c, struct compiled_block *out, size_t source_bytes, const char *sha256,
                    struct ipf_error *err)
{
	struct compiled_builder *b = &c->builder;
	b->header.source_bytes = source_bytes;
	memcpy(b->header.source_sha256, sha256, sizeof b->header.source_sha256 - 1);
	buffer_slice(&b->sections[SECTION_ADDED], buffer_all(&c->added));
	character_classes_build(b);
	if (compiled_build(b, out, err) < 0)
		return -1;
	if (b->header.bpe && bpe_mark_whole(out, err) < 0) {
		compiled_release(out);
		return -1;
	}
	compiled_seal(out);
	return 0;
}

void compiler_release(struct compiler *c)
{
	compiled_builder_release(&c->builder);
	buffer_release(&c->names);
	buffer_release(&c->entries);
	buffer_release(&c->text_slots);
	buffer_release(&c->pairs);
	buffer_release(&c->word);
	buffer_release(&c->added);
}
