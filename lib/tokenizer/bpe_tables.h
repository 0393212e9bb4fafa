/* The tables of a byte-pair encoding: look-ups, and how they are built. */
#ifndef IPF_TOKENIZER_BPE_TABLES_H
#define IPF_TOKENIZER_BPE_TABLES_H

#include "tokenizer/model.h"

#define NO_RANK UINT32_MAX

/* ---- pairs of tokens and the ranks of their merges ---- */

/* A pair of ids and its rank in 64 bits: 21, 21 and 22. A free slot is all ones. */
#define PAIR_RANK_BITS 22
#define MAX_IDS        ((1 << 21) - 1)
#define MAX_MERGES     ((1 << PAIR_RANK_BITS) - 1)
#define PAIR_FREE      UINT64_MAX
static inline uint64_t pair_key(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 43 | (uint64_t)b << PAIR_RANK_BITS;
}
/* Slots are in buckets of four compared at once, without a jump depending on which slot matches. A full bucket
 * continues in the next one, the last one in the first. The pairs of one left token are in one row of as many buckets
 * as they need: a text uses few left tokens, so the part of the table it touches stays in the processor's cache. Tokens
 * without a row share bucket 0, which belongs to no row. */
struct pair_row {
	uint32_t begin, buckets; /* 0 and 0: none */
};
struct pair_table {
	const uint64_t *slots;
	const struct pair_row *rows; /* one more than ids: the last id begins no pair */
	size_t count;                /* slots */
};
#define PAIR_BUCKET 4
static inline const uint64_t *pair_bucket(const struct pair_table *t, uint32_t left, uint32_t right)
{
	struct pair_row row = t->rows[left];
	size_t at = row.begin + ((uint64_t)(right * 0x9e3779b1u) * row.buckets >> 32);
	return t->slots + at * PAIR_BUCKET;
}
/* Looks a key up, from the bucket that pair_bucket gave. */
static inline uint32_t pair_rank(const struct pair_table *t, const uint64_t *s, uint64_t key)
{
	const uint64_t rank_mask = (UINT64_C(1) << PAIR_RANK_BITS) - 1;
	for (;;) {
		/* The slot with this key leaves its rank, other slots leave a larger number. */
		uint64_t a = s[0] ^ key, b = s[1] ^ key, c = s[2] ^ key, d = s[3] ^ key;
		a = a < b ? a : b;
		c = c < d ? c : d;
		a = a < c ? a : c;
		/* One jump, nearly always the same way: whether the pair is there cannot be predicted. */
		if (__builtin_expect((a <= rank_mask) | (s[PAIR_BUCKET - 1] == PAIR_FREE), 1))
			return a <= rank_mask ? (uint32_t)a : NO_RANK;
		s += PAIR_BUCKET;
		if (s == t->slots + t->count)
			s = t->slots;
	}
}

/* ---- which characters are next to each other in a token ---- */

/* Characters by bucket, one bit for each pair of buckets. */
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

/* ---- a BPE model ---- */

struct bpe {
	struct model model;
	const struct vocabulary *vocabulary;
	struct pair_table pairs;
	uint32_t outside;           /* an id that no token has: it is in no pair */
	const uint32_t *merged;     /* by rank */
	const uint32_t *bytes;      /* ids of single bytes; outside byte mode of ASCII */
	const uint32_t *byte_pairs; /* rank of two single bytes */
	const uint32_t *chars;      /* outside byte mode: ids of the basic plane's characters */
	const uint64_t *whole;
	uint32_t fallback[256];     /* with byte_fallback: ids of <0x00>… */
	const uint64_t *neighbours; /* NULL: words must not be cut */
	bool byte_fallback, fuse_unk, ignore_merges;
	bool affixes;    /* prefix or suffix is not empty */
	bool every_byte; /* byte mode, and each byte has a token */
	uint32_t unk;
	struct buffer prefix, suffix; /* as the model sees them */
};

/* Points the tables into the block; the rest of `b` is left alone. */
void bpe_tables_of(struct bpe *b, const struct compiled_block *block);

static inline uint32_t bpe_rank(const struct bpe *b, uint32_t left, uint32_t right)
{
	return pair_rank(&b->pairs, pair_bucket(&b->pairs, left, right), pair_key(left, right));
}
/* True if each byte of the text is a symbol with its own token. */
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

/* ---- building the tables ---- */

struct bpe_merge_pair {
	uint32_t left, right, rank;
};
/* From `pairs` (struct bpe_merge_pair): the pair table and the tables of single bytes. If a pair occurs twice, the last
 * rank counts. */
int bpe_build_pairs(struct compiled_builder *b, const struct vocabulary *v, const struct buffer *pairs,
                    struct ipf_error *err);
void bpe_build_chars(struct compiled_builder *b, const struct vocabulary *v);
void bpe_build_neighbours(struct compiled_builder *b, const struct vocabulary *v, const uint32_t *merged,
                          size_t merges);

#endif
