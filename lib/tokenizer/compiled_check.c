#include "tokenizer/compiled_check.h"

#include "tokenizer/bpe_tables.h"
#include "tokenizer/character_classes.h"
#include "tokenizer/unigram_trie.h"
#include "utf8.h"

#include <string.h>

struct check {
	const struct compiled_block *block;
	uint32_t size; /* the vocabulary's */
};

static uint64_t bytes_of(const struct check *c, enum compiled_section s)
{
	return compiled_bytes(c->block, s);
}

static bool has_bytes(const struct check *c, enum compiled_section s, uint64_t bytes)
{
	return bytes_of(c, s) == bytes;
}

/* Whether all numbers of a table are below a limit, or VOCABULARY_NONE (NO_RANK) where that is allowed. */
static bool all_below(const struct check *c, enum compiled_section s, uint32_t limit, bool none_too)
{
	const uint32_t *n = compiled_section(c->block, s);
	size_t bad = 0;
	for (size_t i = 0; i < bytes_of(c, s) / sizeof *n; i++)
		bad += n[i] >= limit && !(none_too && n[i] == UINT32_MAX);
	return bad == 0;
}

/* size + 1 places in a text that never fall. */
static bool offsets_are_good(const struct check *c, enum compiled_section offsets, enum compiled_section text)
{
	const uint32_t *at = compiled_section(c->block, offsets);
	size_t bad = 0;
	if (!has_bytes(c, offsets, ((uint64_t)c->size + 1) * sizeof *at) || at[c->size] > bytes_of(c, text))
		return false;
	for (uint32_t i = 0; i < c->size; i++)
		bad += at[i] > at[i + 1];
	return bad == 0;
}

static bool is_boundary(const char *text, uint64_t len, uint64_t at)
{
	return at == len || (at < len && ((unsigned char)text[at] & 0xc0) != 0x80);
}

/* The tokens' texts are UTF-8, and none begins inside a character. */
static bool texts_are_good(const struct check *c)
{
	const char *text = compiled_section(c->block, SECTION_TEXT);
	uint64_t len = bytes_of(c, SECTION_TEXT);
	if (!offsets_are_good(c, SECTION_TEXT_OFFSETS, SECTION_TEXT) || !utf8_valid(text, len, NULL))
		return false;
	const uint32_t *at = compiled_section(c->block, SECTION_TEXT_OFFSETS);
	size_t bad = 0;
	for (uint32_t i = 0; i <= c->size; i++)
		bad += !is_boundary(text, len, at[i]);
	return bad == 0;
}

static bool is_power_of_two(uint64_t n)
{
	return n && (n & (n - 1)) == 0;
}

/* Every id exists, and a search ends at a free slot. */
static bool slots_are_good(const struct check *c)
{
	const uint64_t *slots = compiled_section(c->block, SECTION_SLOTS);
	uint64_t count = bytes_of(c, SECTION_SLOTS) / sizeof *slots;
	size_t bad = 0, free = 0;
	if (bytes_of(c, SECTION_SLOTS) % sizeof *slots || !is_power_of_two(count) || count > UINT32_MAX)
		return false;
	for (uint64_t i = 0; i < count; i++) {
		free += slots[i] == 0;
		bad += slots[i] && (uint32_t)slots[i] - 1 >= c->size;
	}
	return bad == 0 && free > 0;
}

/* Every pair is of two tokens and has the rank of a merge; a search ends at a bucket that is not full. */
static bool pairs_are_good(const struct check *c, uint32_t merges)
{
	const uint64_t *slots = compiled_section(c->block, SECTION_PAIRS);
	const struct pair_row *rows = compiled_section(c->block, SECTION_PAIR_ROWS);
	uint64_t count = bytes_of(c, SECTION_PAIRS) / sizeof *slots, buckets = count / PAIR_BUCKET;
	const uint64_t low = (1 << 21) - 1, ranks = (1 << PAIR_RANK_BITS) - 1;
	size_t bad = 0, ends = 0;
	if (bytes_of(c, SECTION_PAIRS) != buckets * PAIR_BUCKET * sizeof *slots ||
	    !has_bytes(c, SECTION_PAIR_ROWS, ((uint64_t)c->size + 1) * sizeof *rows))
		return false;
	for (uint64_t i = 0; i < count; i++) {
		uint64_t s = slots[i];
		bad += (s != PAIR_FREE) &
		       ((s >> 43 >= c->size) | ((s >> PAIR_RANK_BITS & low) >= c->size) | ((s & ranks) >= merges));
		ends += i % PAIR_BUCKET == PAIR_BUCKET - 1 && s == PAIR_FREE;
	}
	for (uint32_t i = 0; i <= c->size; i++) {
		uint64_t end = (uint64_t)rows[i].begin + rows[i].buckets;
		bad += end > buckets || rows[i].begin >= buckets;
	}
	return bad == 0 && ends > 0;
}

static bool bpe_is_good(const struct check *c, bool byte_mode)
{
	uint64_t merges = bytes_of(c, SECTION_MERGED) / sizeof(uint32_t), neighbours = bytes_of(c, SECTION_NEIGHBOURS);
	if (merges > MAX_MERGES || bytes_of(c, SECTION_MERGED) % sizeof(uint32_t) ||
	    !all_below(c, SECTION_MERGED, c->size, false) || !pairs_are_good(c, (uint32_t)merges))
		return false;
	if (!has_bytes(c, SECTION_BYTES, 256 * sizeof(uint32_t)) || !all_below(c, SECTION_BYTES, c->size, true) ||
	    !has_bytes(c, SECTION_BYTE_PAIRS, 65536 * sizeof(uint32_t)) ||
	    !all_below(c, SECTION_BYTE_PAIRS, (uint32_t)merges, true))
		return false;
	if (!has_bytes(c, SECTION_WHOLE, ((uint64_t)c->size + 63) / 64 * 8))
		return false;
	if (byte_mode)
		return neighbours == 0 && offsets_are_good(c, SECTION_WORD_OFFSETS, SECTION_WORD);
	return has_bytes(c, SECTION_CHARS, 65536 * sizeof(uint32_t)) && all_below(c, SECTION_CHARS, c->size, true) &&
	       (neighbours == 0 || neighbours == BUCKETS * BUCKETS / 8);
}

static bool trie_is_good(const struct check *c)
{
	const uint64_t *edges = compiled_section(c->block, SECTION_TRIE_EDGES);
	uint64_t count = bytes_of(c, SECTION_TRIE_EDGES) / sizeof *edges;
	uint64_t nodes = bytes_of(c, SECTION_TRIE_IDS) / sizeof(uint32_t);
	size_t bad = 0, free = 0;
	if (!has_bytes(c, SECTION_SCORES, (uint64_t)c->size * sizeof(double)))
		return bytes_of(c, SECTION_SCORES) == 0;
	if (bytes_of(c, SECTION_TRIE_EDGES) % sizeof *edges || !is_power_of_two(count) || count > UINT32_MAX ||
	    nodes == 0 || bytes_of(c, SECTION_TRIE_IDS) % sizeof(uint32_t) ||
	    !all_below(c, SECTION_TRIE_IDS, c->size, true))
		return c->size == 0;
	for (uint64_t i = 0; i < count; i++) {
		free += edges[i] == 0;
		bad += (edges[i] & (TRIE_NODES - 1)) >= nodes;
	}
	return bad == 0 && free > 0;
}

static bool added_are_good(const struct check *c)
{
	const struct added_record *r = compiled_section(c->block, SECTION_ADDED);
	const char *text = compiled_section(c->block, SECTION_ADDED_TEXT);
	uint64_t count = bytes_of(c, SECTION_ADDED) / sizeof *r, len = bytes_of(c, SECTION_ADDED_TEXT);
	if (bytes_of(c, SECTION_ADDED) % sizeof *r || !utf8_valid(text, len, NULL))
		return false;
	for (uint64_t i = 0; i < count; i++)
		/* a token that is not in the vocabulary gets the next id */
		if (r[i].id >= (uint64_t)MAX_IDS + count || !is_boundary(text, len, r[i].text) ||
		    !is_boundary(text, len, (uint64_t)r[i].text + r[i].bytes))
			return false;
	return true;
}

bool compiled_is_consistent(const struct compiled_block *block)
{
	const struct compiled_header *h = block->header;
	struct check c = {block, h->vocabulary_size};
	return h->vocabulary_size <= MAX_IDS && h->byte_mode <= 1 && h->bpe <= 1 && !(h->byte_mode && !h->bpe) &&
	       texts_are_good(&c) && slots_are_good(&c) && (!h->bpe || bpe_is_good(&c, h->byte_mode)) && trie_is_good(&c) &&
	       added_are_good(&c) && character_classes_are_ours(block);
}
