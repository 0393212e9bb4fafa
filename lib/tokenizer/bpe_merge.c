/* Merges few symbols. For up to a hundred of them, looking at all pairs is faster than a queue: the rank and the place
 * of a pair make one number, and vector instructions find the lowest of four numbers at a time. Symbols stay where they
 * are; merged ones drop out of a list of indices. */
#include "tokenizer/bpe_merge.h"

#include <string.h>

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#define PLACE_BITS 7
/* Numbers are at least 2^28 and below 2^30: read as floating point they are neither denormal nor infinite, and have the
 * same order. */
#define PAIR_BASE 0x10000000
#define NO_PAIR   0x7f000000
_Static_assert(BPE_SHORT + 2 <= 1 << PLACE_BITS, "a place has to fit beside the rank");

typedef int32_t quad __attribute__((vector_size(16)));

/* Symbols are at the places 1 to count. An id in no pair is before and behind them, so no branch has to test for the
 * first and last symbol, which is hard to predict. */
struct chain {
	quad pairs[(1 << PLACE_BITS) / 4]; /* PAIR_BASE + (rank << 7 | place of the left symbol) */
	uint32_t ids[1 << PLACE_BITS];
	uint8_t prev[1 << PLACE_BITS], next[1 << PLACE_BITS];
	size_t count;
};

static inline void no_pair(struct chain *c, size_t place)
{
	((int32_t *)(void *)c->pairs)[place] = NO_PAIR;
}

static inline void set_pair(const struct bpe *b, struct chain *c, size_t place, uint32_t rank)
{
	bool none = rank == NO_RANK;
	((int32_t *)(void *)c->pairs)[place] = none ? NO_PAIR
	                                            : (int32_t)(PAIR_BASE + (rank << PLACE_BITS | (uint32_t)place));
	__builtin_prefetch(&b->merged[none ? 0 : rank]);
}

/* Every x86-64 has a minimum instruction for floats, though not for integers. */
static inline quad lower(quad a, quad b)
{
#ifdef __SSE2__
	return (quad)_mm_min_ps((__m128)a, (__m128)b);
#else
	quad less = a < b;
	return (a & less) | (b & ~less);
#endif
}

/* Four independent chains of comparisons: a single one would wait for its own results. */
static inline int32_t lowest(const struct chain *c)
{
	const quad *p = c->pairs;
	quad a = p[0], b = p[1], d = p[2], e = p[3];
	for (size_t i = 4; i * 4 <= c->count; i += 4) {
		a = lower(a, p[i]);
		b = lower(b, p[i + 1]);
		d = lower(d, p[i + 2]);
		e = lower(e, p[i + 3]);
	}
	a = lower(lower(a, b), lower(d, e));
	int32_t x = a[0] < a[1] ? a[0] : a[1], y = a[2] < a[3] ? a[2] : a[3];
	return x < y ? x : y;
}

/* Sets up everything but the symbols and their pairs. */
static inline void begin_chain(const struct bpe *b, struct chain *c, size_t count)
{
	c->count = count;
	no_pair(c, 0);
	for (size_t i = count / 4; i < (count + 16) / 16 * 4; i++)
		c->pairs[i] = (quad){NO_PAIR, NO_PAIR, NO_PAIR, NO_PAIR};
	for (size_t i = 1; i <= count; i++) {
		c->prev[i] = (uint8_t)(i - 1);
		c->next[i] = (uint8_t)(i + 1);
	}
	c->ids[0] = c->ids[count + 1] = b->outside;
}

/* A merge in two halves: the first one prefetches its entries of the pair table, so several words wait for memory
 * together. */
struct step {
	size_t at, before; /* places */
	/* The new pairs: */
	uint64_t left, right; /* keys */
	const uint64_t *left_bucket, *right_bucket;
};

static inline void begin_merge(const struct bpe *b, struct chain *c, int32_t low, struct step *s)
{
	size_t at = (size_t)low & ((1 << PLACE_BITS) - 1), gone = c->next[at], after = c->next[gone];
	uint32_t merged = b->merged[(uint32_t)(low - PAIR_BASE) >> PLACE_BITS];

	s->at = at;
	s->before = c->prev[at];
	c->ids[at] = merged;
	no_pair(c, gone);
	c->next[at] = (uint8_t)after;
	c->prev[after] = (uint8_t)at;
	s->left = pair_key(c->ids[s->before], merged);
	s->right = pair_key(merged, c->ids[after]);
	s->left_bucket = pair_bucket(&b->pairs, c->ids[s->before], merged);
	s->right_bucket = pair_bucket(&b->pairs, merged, c->ids[after]);
	__builtin_prefetch(s->left_bucket);
	__builtin_prefetch(s->right_bucket);
}

static inline void end_merge(const struct bpe *b, struct chain *c, const struct step *s)
{
	set_pair(b, c, s->at, pair_rank(&b->pairs, s->right_bucket, s->right));
	set_pair(b, c, s->before, pair_rank(&b->pairs, s->left_bucket, s->left));
}

static inline void merge(const struct bpe *b, struct chain *c)
{
	struct step s;
	int32_t low;
	while ((low = lowest(c)) != NO_PAIR) {
		begin_merge(b, c, low, &s);
		end_merge(b, c, &s);
	}
}

/* Independent words: while one waits for memory, the others continue. */
static inline void merge_side_by_side(const struct bpe *b, struct chain *chains, size_t count)
{
	struct step steps[BPE_SIDE_BY_SIDE];
	uint8_t busy[BPE_SIDE_BY_SIDE];
	for (size_t i = 0; i < count; i++)
		busy[i] = (uint8_t)i;
	while (count) {
		size_t left = 0;
		for (size_t i = 0; i < count; i++) {
			int32_t low = lowest(&chains[busy[i]]);
			if (low == NO_PAIR)
				continue;
			begin_merge(b, &chains[busy[i]], low, &steps[left]);
			busy[left++] = busy[i];
		}
		count = left;
		for (size_t i = 0; i < count; i++)
			end_merge(b, &chains[busy[i]], &steps[i]);
	}
}

/* From symbols. */
static inline void fill_chain(const struct bpe *b, struct chain *c, const uint32_t *ids, size_t count)
{
	begin_chain(b, c, count);
	memcpy(c->ids + 1, ids, count * sizeof *ids);
	for (size_t i = 1; i < count; i++)
		set_pair(b, c, i, bpe_rank(b, c->ids[i], c->ids[i + 1]));
}

/* From bytes, each of which is a symbol. */
static inline void fill_chain_bytes(const struct bpe *b, struct chain *c, const char *word, size_t len)
{
	const unsigned char *s = (const unsigned char *)word;
	begin_chain(b, c, len);
	for (size_t i = 1; i < len; i++) {
		c->ids[i] = b->bytes[s[i - 1]];
		set_pair(b, c, i, b->byte_pairs[s[i - 1] << 8 | s[i]]);
	}
	c->ids[len] = b->bytes[s[len - 1]];
}

static inline size_t take_ids(const struct chain *c, uint32_t *ids)
{
	size_t left = 0;
	for (size_t i = 1; i <= c->count; i = c->next[i])
		ids[left++] = c->ids[i];
	return left;
}

size_t bpe_merge(const struct bpe *b, uint32_t *ids, size_t count)
{
	struct chain c;
	if (count < 2)
		return count;
	fill_chain(b, &c, ids, count);
	merge(b, &c);
	return take_ids(&c, ids);
}

size_t bpe_merge_bytes(const struct bpe *b, const char *word, size_t len, uint32_t *ids)
{
	struct chain c;
	fill_chain_bytes(b, &c, word, len);
	merge(b, &c);
	return take_ids(&c, ids);
}

static inline void fill_span(const struct bpe *b, struct chain *c, struct bpe_span *s)
{
	if (s->plain) {
		fill_chain_bytes(b, c, s->word + s->begin, s->end - s->begin);
		return;
	}
	fill_chain(b, c, s->ids, s->count);
}

static inline void take_span(const struct chain *c, struct bpe_span *s)
{
	size_t left = 0;
	for (size_t i = 1; i <= c->count; i = c->next[i]) {
		s->ids[left] = c->ids[i];
		s->starts[left++] = s->plain ? (uint32_t)(s->begin + i - 1) : s->starts[i - 1];
	}
	s->count = left;
}

void bpe_merge_span(const struct bpe *b, struct bpe_span *s)
{
	struct chain c;
	if (s->count < 2 && !s->plain)
		return;
	fill_span(b, &c, s);
	merge(b, &c);
	take_span(&c, s);
}

void bpe_merge_spans(const struct bpe *b, struct bpe_span *const spans[], size_t count)
{
	struct chain chains[BPE_SIDE_BY_SIDE];
	size_t filled = 0;
	for (size_t i = 0; i < count; i++)
		if (spans[i]->count >= 2 || spans[i]->plain)
			fill_span(b, &chains[filled++], spans[i]);
	merge_side_by_side(b, chains, filled);
	filled = 0;
	for (size_t i = 0; i < count; i++)
		if (spans[i]->count >= 2 || spans[i]->plain)
			take_span(&chains[filled++], spans[i]);
}
