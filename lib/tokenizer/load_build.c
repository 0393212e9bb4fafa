/* Tokens, merges and added tokens, one by one, to a block. */
#include "tokenizer/load.h"
#include "tokenizer/bpe.h"

#include <stdlib.h>

#define OUT_OF_MEMORY(err) ipf_error_memory(err)

/* At most so much of a token in a message. */
#define SHOWN(s) (int)((s).len < 60 ? (s).len : 60), (s).data

int loader_token_text(struct loader *l, struct slice text, uint32_t id, struct ipf_error *err)
{
	struct loader_entry e = {.id = id, .at = (uint32_t)l->names.len, .bytes = (uint32_t)text.len};
	if (l->names.len + text.len > UINT32_MAX)
		return ipf_error_set(err, IPF_INPUT, "model.vocab: more than 4 GiB of tokens");
	buffer_slice(&l->names, text);
	buffer_append(&l->entries, &e, sizeof e);
	if (id >= l->by_text.size)
		l->by_text.size = id + 1;
	l->by_text.count++;
	return l->names.failed || l->entries.failed ? OUT_OF_MEMORY(err) : 0;
}

int loader_token(struct loader *l, const struct jdoc *j, jdoc_id text, uint32_t id, struct ipf_error *err)
{
	buffer_clear(&l->word);
	jdoc_text(j, text, &l->word);
	return loader_token_text(l, buffer_all(&l->word), id, err);
}

/* A hash of all tokens, filled to 5/8 at most. */
static bool make_slots(struct buffer *out, const uint32_t *offsets, const char *text, uint32_t size, uint32_t count)
{
	size_t cap = 16;
	while (cap * 5 < (size_t)count * 8)
		cap *= 2;
	uint64_t *slots = (uint64_t *)(void *)buffer_reserve(out, cap * sizeof *slots);
	if (!slots)
		return false;
	memset(slots, 0, cap * sizeof *slots);
	out->len = cap * sizeof *slots;
	for (uint32_t id = 0; id < size; id++) {
		if (offsets[id] == offsets[id + 1])
			continue;
		uint32_t hash = word_hash(text + offsets[id], offsets[id + 1] - offsets[id]);
		size_t i = hash & (cap - 1);
		while (slots[i])
			i = (i + 1) & (cap - 1);
		slots[i] = (uint64_t)hash << 32 | (id + 1);
	}
	return true;
}

/* The raw bytes of each token; those that no bytes give stay empty. */
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

/* Texts in the order of their ids. */
static int sort_texts(struct loader *l, struct ipf_error *err)
{
	const struct loader_entry *entries = (const void *)l->entries.data;
	size_t size = l->by_text.size;
	size_t bytes = (size + 1) * sizeof(uint32_t);
	uint32_t *at = (uint32_t *)(void *)buffer_reserve(&l->builder.sections[SECTION_TEXT_OFFSETS], bytes);
	char *text = buffer_reserve(&l->builder.sections[SECTION_TEXT], l->names.len + 1);
	uint8_t *taken = calloc(size + 1, 1);

	if (!at || !text || !taken) {
		free(taken);
		return OUT_OF_MEMORY(err);
	}
	memset(at, 0, bytes);
	for (uint32_t i = 0; i < l->by_text.count; i++) {
		if (taken[entries[i].id]) {
			free(taken);
			struct slice s = {l->names.data + entries[i].at, entries[i].bytes};
			return ipf_error_set(err, IPF_INPUT, "model.vocab: id %u stands twice, for \"%.*s\" too", entries[i].id,
			                     SHOWN(s));
		}
		taken[entries[i].id] = 1;
		at[entries[i].id + 1] = entries[i].bytes;
	}
	free(taken);
	for (size_t i = 0; i < size; i++)
		at[i + 1] += at[i];
	for (uint32_t i = 0; i < l->by_text.count; i++)
		if (entries[i].bytes)
			memcpy(text + at[entries[i].id], l->names.data + entries[i].at, entries[i].bytes);
	l->builder.sections[SECTION_TEXT_OFFSETS].len = bytes;
	l->builder.sections[SECTION_TEXT].len = l->names.len;
	return 0;
}

int loader_vocabulary(struct loader *l, bool twice, struct ipf_error *err)
{
	struct compiled_builder *b = &l->builder;
	struct vocabulary *v = &l->by_text;

	if (v->count == 0)
		return ipf_error_set(err, IPF_INPUT, "model.vocab: no tokens in it");
	if (sort_texts(l, err) < 0)
		return -1;
	v->text_offsets = v->word_offsets = (const uint32_t *)(const void *)b->sections[SECTION_TEXT_OFFSETS].data;
	v->text = v->word = b->sections[SECTION_TEXT].data;
	for (uint32_t id = 0; id < v->size; id++)
		if (v->text_offsets[id + 1] - v->text_offsets[id] > v->longest)
			v->longest = v->text_offsets[id + 1] - v->text_offsets[id];
	b->header.vocabulary_size = v->size;
	b->header.vocabulary_count = v->count;
	b->header.vocabulary_longest = v->longest;
	if (!make_slots(&l->text_slots, v->text_offsets, v->text, v->size, v->count))
		return OUT_OF_MEMORY(err);
	v->slots = (const uint64_t *)(const void *)l->text_slots.data;
	v->slot_mask = (uint32_t)(l->text_slots.len / sizeof(uint64_t) - 1);
	for (uint32_t id = 0; id < v->size && !twice; id++) {
		struct slice text = vocabulary_text(v, id);
		if (text.data && vocabulary_find(v, text.data, text.len) != id)
			return ipf_error_set(err, IPF_INPUT, "model.vocab: \"%.*s\" stands twice", SHOWN(text));
	}
	l->next_added = v->count;
	if (!b->header.byte_mode) {
		buffer_slice(&b->sections[SECTION_SLOTS], buffer_all(&l->text_slots));
		return 0;
	}
	if (!make_words(b, v, &b->header.vocabulary_longest) ||
	    !make_slots(&b->sections[SECTION_SLOTS], (const uint32_t *)(const void *)b->sections[SECTION_WORD_OFFSETS].data,
	                b->sections[SECTION_WORD].data, v->size, v->count))
		return OUT_OF_MEMORY(err);
	return 0;
}

static bool is_byte_token(struct slice s)
{
	return s.len == 6 && memcmp(s.data, "<0x", 3) == 0 && s.data[5] == '>';
}

void loader_pair(struct loader *l, uint32_t left, uint32_t right, uint32_t rank)
{
	struct loader_pair pair = {left, right, rank};
	buffer_append(&l->pairs, &pair, sizeof pair);
}

int loader_merge(struct loader *l, struct slice a, struct slice b, size_t prefix, struct ipf_error *err)
{
	uint32_t pair[2] = {vocabulary_find(&l->by_text, a.data, a.len), vocabulary_find(&l->by_text, b.data, b.len)};
	struct slice bad = pair[0] == VOCABULARY_NONE ? a : b;
	uint32_t merged = VOCABULARY_NONE;

	if (pair[0] != VOCABULARY_NONE && pair[1] != VOCABULARY_NONE && b.len >= prefix) {
		buffer_clear(&l->word);
		buffer_slice(&l->word, a);
		buffer_append(&l->word, b.data + prefix, b.len - prefix);
		bad = buffer_all(&l->word);
		if (!l->word.failed)
			merged = vocabulary_find(&l->by_text, bad.data, bad.len);
	}
	if (merged == VOCABULARY_NONE)
		return ipf_error_set(err, IPF_INPUT, "model.merges: entry %u: \"%.*s\" is not in the vocabulary", l->merges,
		                     SHOWN(bad));
	if (l->merges == MAX_MERGES)
		return ipf_error_set(err, IPF_INPUT, "model.merges: more than %d", MAX_MERGES);
	loader_pair(l, pair[0], pair[1], l->merges++);
	if (is_byte_token(a) || is_byte_token(b))
		l->byte_parts = true;
	buffer_append(&l->builder.sections[SECTION_MERGED], &merged, sizeof merged);
	return l->pairs.failed || l->builder.sections[SECTION_MERGED].failed ? OUT_OF_MEMORY(err) : 0;
}

int loader_merges(struct loader *l, struct ipf_error *err)
{
	struct compiled_builder *b = &l->builder;
	if (load_pairs(b, &l->by_text, &l->pairs, err) < 0)
		return -1;
	if (!b->header.byte_mode) {
		load_chars(b, &l->by_text);
		if (!l->byte_parts)
			load_neighbours(b, &l->by_text, (const uint32_t *)(const void *)b->sections[SECTION_MERGED].data,
			                l->merges);
	}
	size_t words = (l->by_text.size + 63) / 64 * 8;
	char *whole = buffer_reserve(&b->sections[SECTION_WHOLE], words);
	if (whole) {
		memset(whole, 0, words);
		b->sections[SECTION_WHOLE].len = words;
	}
	return 0;
}

/* The record of the same id (or the place for a new one). */
static struct added_record *find_added(struct loader *l, uint32_t id)
{
	struct added_record *r = (void *)l->added.data;
	for (size_t i = 0; i < l->added.len / sizeof *r; i++)
		if (r[i].id == id)
			return &r[i];
	return NULL;
}

static uint32_t find_added_text(const struct loader *l, struct slice content)
{
	const struct added_record *r = (const void *)l->added.data;
	const struct buffer *texts = &l->builder.sections[SECTION_ADDED_TEXT];
	for (size_t i = 0; i < l->added.len / sizeof *r; i++)
		if (r[i].bytes == content.len && memcmp(texts->data + r[i].text, content.data, content.len) == 0)
			return r[i].id;
	return VOCABULARY_NONE;
}

/* The reference does not look at the ids in the file: a token of the vocabulary keeps its id, others get the next ones.
 */
int loader_added(struct loader *l, struct slice content, bool given, struct added_record record, struct ipf_error *err)
{
	struct buffer *texts = &l->builder.sections[SECTION_ADDED_TEXT];
	if (!content.len)
		return 0;
	if (!given)
		record.id = vocabulary_find(&l->by_text, content.data, content.len);
	if (record.id == VOCABULARY_NONE)
		record.id = find_added_text(l, content);
	if (record.id == VOCABULARY_NONE)
		record.id = l->next_added++;
	record.text = (uint32_t)texts->len;
	record.bytes = (uint32_t)content.len;
	buffer_slice(texts, content);
	struct added_record *old = l->added.len ? find_added(l, record.id) : NULL;
	if (old) {
		record.special |= old->special && old->bytes == record.bytes &&
		                  memcmp(texts->data + old->text, content.data, content.len) == 0;
		*old = record;
	} else {
		buffer_append(&l->added, &record, sizeof record);
	}
	return texts->failed || l->added.failed ? OUT_OF_MEMORY(err) : 0;
}

int loader_finish(struct loader *l, struct compiled *out, size_t source_bytes, const char *sha256,
                  struct ipf_error *err)
{
	struct compiled_builder *b = &l->builder;
	b->header.source_bytes = source_bytes;
	memcpy(b->header.source_sha256, sha256, sizeof b->header.source_sha256 - 1);
	buffer_slice(&b->sections[SECTION_ADDED], buffer_all(&l->added));
	load_classes(b);
	if (compiled_build(b, out, err) < 0)
		return -1;
	if (b->header.bpe && bpe_mark_whole(out, err) < 0) {
		compiled_release(out);
		return -1;
	}
	struct compiled_header *h = out->memory;
	size_t head = offsetof(struct compiled_header, checksum) + sizeof h->checksum;
	h->checksum = compiled_checksum((const char *)out->memory + head, h->size - head);
	return 0;
}

void loader_release(struct loader *l)
{
	compiled_builder_release(&l->builder);
	buffer_release(&l->names);
	buffer_release(&l->entries);
	buffer_release(&l->text_slots);
	buffer_release(&l->pairs);
	buffer_release(&l->word);
	buffer_release(&l->added);
}
