#include "tokenizer/bpe_tables.h"

#include "tokenizer/byte_level.h"
#include "tokenizer/code_point.h"

void bpe_build_chars(struct compiled_builder *b, const struct vocabulary *v)
{
	uint32_t *chars = compiled_builder_fill(b, SECTION_CHARS, 65536 * sizeof *chars, 0xff);
	for (uint32_t c = 0; chars && c < 65536; c++) {
		char utf8[4];
		chars[c] = vocabulary_find(v, utf8, utf8_put(utf8, c));
	}
}

/* Outside byte mode only ASCII has tokens of one byte. */
static uint32_t find_byte(const struct vocabulary *v, uint32_t byte, bool byte_mode)
{
	char utf8[4] = {(char)byte};
	if (!byte_mode)
		return byte < 0x80 ? vocabulary_find(v, utf8, 1) : VOCABULARY_NONE;
	return vocabulary_find(v, utf8, utf8_put(utf8, byte_level_char((unsigned char)byte)));
}

static int build_byte_tables(struct compiled_builder *b, const struct vocabulary *v, const struct pair_table *table)
{
	uint32_t *bytes = compiled_builder_fill(b, SECTION_BYTES, 256 * sizeof *bytes, 0xff);
	uint32_t *pairs = compiled_builder_fill(b, SECTION_BYTE_PAIRS, 65536 * sizeof *pairs, 0xff);
	if (!bytes || !pairs)
		return -1;
	for (uint32_t i = 0; i < 256; i++)
		bytes[i] = find_byte(v, i, b->header.byte_mode);
	for (uint32_t i = 0; i < 65536; i++)
		if (bytes[i >> 8] != VOCABULARY_NONE && bytes[i & 255] != VOCABULARY_NONE)
			pairs[i] = pair_rank(table, pair_bucket(table, bytes[i >> 8], bytes[i & 255]),
			                     pair_key(bytes[i >> 8], bytes[i & 255]));
	return 0;
}

/* Sets where the rows begin: one bucket for one and a half pairs of a left token. Returns the number of buckets. */
static size_t lay_rows(struct pair_row *rows, size_t size, const struct bpe_merge_pair *pair, size_t count)
{
	uint32_t at = 1;
	for (size_t i = 0; i < count; i++)
		rows[pair[i].left].buckets++;
	for (size_t id = 0; id < size; id++) {
		uint32_t pairs = rows[id].buckets;
		if (pairs == 0)
			continue;
		rows[id] = (struct pair_row){at, pairs <= 2 ? 1 : (pairs * 2 + 2) / 3};
		at += rows[id].buckets;
	}
	return at;
}

int bpe_build_pairs(struct compiled_builder *b, const struct vocabulary *v, const struct buffer *pairs,
                    struct ipf_error *err)
{
	const struct bpe_merge_pair *pair = (const void *)pairs->data;
	size_t count = pairs->len / sizeof *pair;
	struct pair_row *rows = compiled_builder_fill(b, SECTION_PAIR_ROWS, (v->size + 1) * sizeof *rows, 0);
	size_t buckets = rows ? lay_rows(rows, v->size, pair, count) : 0;
	uint64_t *slots = buckets ? compiled_builder_fill(b, SECTION_PAIRS, buckets * PAIR_BUCKET * sizeof *slots, 0xff)
	                          : NULL;
	if (!slots)
		return ipf_error_memory(err);
	struct pair_table table = {.slots = slots, .rows = rows, .count = buckets * PAIR_BUCKET};
	for (; count; count--, pair++) {
		uint64_t key = pair_key(pair->left, pair->right);
		size_t i = (size_t)(pair_bucket(&table, pair->left, pair->right) - slots);
		/* If a pair occurs twice, the last rank counts. */
		while (slots[i] != PAIR_FREE && (slots[i] ^ key) >> PAIR_RANK_BITS != 0)
			i = i + 1 < table.count ? i + 1 : 0;
		slots[i] = key | pair->rank;
	}
	if (build_byte_tables(b, v, &table) < 0)
		return ipf_error_memory(err);
	return 0;
}

void bpe_build_neighbours(struct compiled_builder *b, const struct vocabulary *v, const uint32_t *merged, size_t merges)
{
	uint64_t *bits = compiled_builder_fill(b, SECTION_NEIGHBOURS, BUCKETS * BUCKETS / 8, 0);
	for (size_t i = 0; bits && i < merges; i++) {
		const char *at = v->text + v->text_offsets[merged[i]], *end = v->text + v->text_offsets[merged[i] + 1];
		uint32_t left = utf8_next(&at);
		while (at < end) {
			uint32_t right = utf8_next(&at), bit = bucket_of(left) * BUCKETS + bucket_of(right);
			bits[bit / 64] |= UINT64_C(1) << (bit % 64);
			left = right;
		}
	}
}

void bpe_tables_of(struct bpe *b, const struct compiled_block *block)
{
	b->pairs.slots = compiled_section(block, SECTION_PAIRS);
	b->pairs.count = compiled_bytes(block, SECTION_PAIRS) / sizeof *b->pairs.slots;
	b->pairs.rows = compiled_section(block, SECTION_PAIR_ROWS);
	b->merged = compiled_section(block, SECTION_MERGED);
	b->bytes = compiled_section(block, SECTION_BYTES);
	b->byte_pairs = compiled_section(block, SECTION_BYTE_PAIRS);
	b->chars = compiled_section(block, SECTION_CHARS);
	b->whole = compiled_section(block, SECTION_WHOLE);
	b->neighbours = compiled_bytes(block, SECTION_NEIGHBOURS) ? compiled_section(block, SECTION_NEIGHBOURS) : NULL;
}
