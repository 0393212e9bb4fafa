/* Byte-pair encoding: its tables and their look-ups. */
#ifndef IPF_TOKENIZER_BPE_H
#define IPF_TOKENIZER_BPE_H

#include "tokenizer/compiled.h"

#define NO_RANK UINT32_MAX

/* A pair of ids and its rank in 64 bits: 21, 21 and 22. A free slot is all ones. */
#define PAIR_RANK_BITS 22
#define MAX_IDS        ((1 << 21) - 1)
#define MAX_MERGES     ((1 << PAIR_RANK_BITS) - 1)
#define PAIR_FREE      UINT64_MAX
static inline uint64_t pair_key(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 43 | (uint64_t)b << PAIR_RANK_BITS;
}
/* The table of pairs: slots in buckets of four that are compared at once, without a jump that depends on which of them
 * it is. A bucket that is full goes on in the next one, the last one in the first. The pairs of one left token lie
 * together, in as many buckets as they need: what a text asks for is then a small part of the table that stays at hand,
 * though which pairs it asks for cannot be told. Tokens without a row share bucket 0, which no row has. */
struct pair_row {
	uint32_t begin, buckets; /* 0 and 0: none */
};
struct pair_table {
	const uint64_t *slots;
	const struct pair_row *rows; /* one more than ids: nothing begins with that */
	size_t count;                /* slots */
};
#define PAIR_BUCKET 4
static inline const uint64_t *pair_bucket(const struct pair_table *t, uint32_t left, uint32_t right)
{
	struct pair_row row = t->rows[left];
	size_t at = row.begin + ((uint64_t)(right * 0x9e3779b1u) * row.buckets >> 32);
	return t->slots + at * PAIR_BUCKET;
}
/* In the bucket that was found. */
static inline uint32_t pair_rank(const struct pair_table *t, const uint64_t *s, uint64_t key)
{
	const uint64_t rank_mask = (UINT64_C(1) << PAIR_RANK_BITS) - 1;
	for (;;) {
		/* What is left of the slot with this key is its rank, of others a larger number. */
		uint64_t a = s[0] ^ key, b = s[1] ^ key, c = s[2] ^ key, d = s[3] ^ key;
		a = a < b ? a : b;
		c = c < d ? c : d;
		a = a < c ? a : c;
		/* One jump, nearly always the same way: whether the pair is there cannot be guessed. */
		if (__builtin_expect((a <= rank_mask) | (s[PAIR_BUCKET - 1] == PAIR_FREE), 1))
			return a <= rank_mask ? (uint32_t)a : NO_RANK;
		s += PAIR_BUCKET;
		if (s == t->slots + t->count)
			s = t->slots;
	}
}

struct bpe {
	struct model model;
	const struct vocabulary *vocabulary;
	struct pair_table pairs;
	uint32_t outside;           /* an id that no token has: makes no pair */
	const uint32_t *merged;     /* by rank */
	const uint32_t *bytes;      /* ids of single bytes; outside byte mode of ASCII */
	const uint32_t *byte_pairs; /* rank of two single bytes */
	const uint32_t *chars;      /* else: ids of the basic plane's characters */
	const uint64_t *whole;
	uint32_t fallback[256];     /* ids of <0x00>… where byte_fallback */
	const uint64_t *neighbours; /* NULL: words must not be cut */
	bool byte_fallback, fuse_unk, ignore_merges;
	bool affixes;    /* prefix or suffix are not empty */
	bool every_byte; /* byte mode, and each byte has a token */
	uint32_t unk;
	struct buffer prefix, suffix; /* as the model sees them */
};

static inline uint32_t bpe_rank(const struct bpe *b, uint32_t left, uint32_t right)
{
	return pair_rank(&b->pairs, pair_bucket(&b->pairs, left, right), pair_key(left, right));
}
/* Is each byte of the text a symbol with a token of its own? */
static inline bool bpe_is_plain(const struct bpe *b, const char *text, size_t len)
{
	uint32_t worst = 0;
	if (b->every_byte || b->affixes)
		return b->every_byte;
	for (size_t i = 0; i < len; i++)
		worst |= b->bytes[(unsigned char)text[i]];
	return worst < UINT32_C(1) << 31;
}
static inline bool bpe_is_whole(const struct bpe *b, uint32_t id)
{
	return b->whole[id / 64] >> (id % 64) & 1;
}

/* `block` outlives the model. config: "model" of the configuration. */
int bpe_new(struct model **model, const json_t *config, const struct compiled *block,
            const struct vocabulary *vocabulary, struct ipf_error *err);
/* Fills SECTION_WHOLE of a block that was just built. */
int bpe_mark_whole(struct compiled *block, struct ipf_error *err);
/* For `neighbours`; NULL where a word must not be cut between characters that stand beside each other in no token. */
const uint64_t *bpe_neighbours(const struct model *model);

#define BPE_SHORT 96 /* symbols that looking at all of them is good for */

/* The ids of the characters or bytes of word[begin, end), unmerged, and where in the word they begin (`starts` may be
 * NULL): at most as many as there are bytes. `last`: the word ends there. */
size_t bpe_symbol_spans(const struct bpe *b, const char *word, size_t begin, size_t end, bool last, uint32_t *ids,
                        uint32_t *starts);

/* Merging in place, BPE_SHORT symbols at most (bpe_merge.c); they return how many are left. */
size_t bpe_merge(const struct bpe *b, uint32_t *ids, size_t count);
/* From the bytes of a word that is plain; room for len ids. */
size_t bpe_merge_bytes(const struct bpe *b, const char *word, size_t len, uint32_t *ids);
/* A part of a word, word[begin, end), with `count` symbols in `ids` and where they begin in the word in `starts` (where
 * it is plain only room for them: they follow from the bytes). Afterwards they are tokens. */
struct bpe_span {
	const char *word;
	size_t begin, end;
	bool plain;
	uint32_t *ids, *starts;
	size_t count;
};
void bpe_merge_span(const struct bpe *b, struct bpe_span *s);
/* Several parts side by side, BPE_SIDE_BY_SIDE at most: faster than one after the other. */
#define BPE_SIDE_BY_SIDE 6
void bpe_merge_spans(const struct bpe *b, struct bpe_span *const spans[], size_t count);
/* Any number (bpe_heap.c); SIZE_MAX: out of memory. */
size_t bpe_merge_heap(const struct bpe *b, uint32_t *ids, uint32_t *starts, size_t count);
/* A word of any length in linear time (bpe_long.c). */
int bpe_encode_long(const struct bpe *b, const char *word, size_t len, struct token_ids *ids, struct ipf_error *err);

/* Which characters stand beside each other in a token: characters by bucket, one bit a pair of buckets. */
#define BUCKETS 512
static inline uint32_t bucket_of(uint32_t c)
{
	return c < 128 ? c : c == 0x2581 ? 128 : 129 + (c * 0x9e3779b1u >> 8) % (BUCKETS - 129);
}
static inline bool neighbours(const uint64_t *bits, uint32_t left, uint32_t right)
{
	uint32_t i = bucket_of(left) * BUCKETS + bucket_of(right);
	return bits[i / 64] >> (i % 64) & 1;
}

#endif
