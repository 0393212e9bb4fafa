/* Merging a short word: the pair with the lowest rank first, the leftmost of equals, as the reference does with its heap. For up to
 * a hundred symbols looking at all of them is faster than any queue: rank and place of a pair make one number, and the lowest of
 * four at a time is found by the machine's vectors. Symbols stay where they are; merged ones drop out of a list of indices. */
#include "bpe.h"

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

#define PLACE_BITS 7
/* Numbers are at least 2^28, and so below 2^30: read as floating point they are neither denormal nor infinite, and in the same order. */
#define PAIR_BASE 0x10000000
#define NO_PAIR 0x7f000000
_Static_assert(BPE_SHORT < 1 << PLACE_BITS, "a place has to fit beside the rank");

typedef int32_t quad __attribute__((vector_size(16)));

struct chain {
	quad pairs[(1 << PLACE_BITS) / 4]; /* PAIR_BASE + (rank << 7 | place of the left symbol) */
	uint32_t ids[1 << PLACE_BITS];
	uint32_t into[1 << PLACE_BITS]; /* what the pair becomes: looked up early, so that merging does not wait for it */
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
	((int32_t *)(void *)c->pairs)[place] = none ? NO_PAIR : (int32_t)(PAIR_BASE + (rank << PLACE_BITS | (uint32_t)place));
	c->into[place] = b->merged[none ? 0 : rank];
}

/* Every x86-64 has a minimum of floats, though not of integers. */
static inline quad lower(quad a, quad b)
{
#ifdef __SSE2__
	return (quad)_mm_min_ps((__m128)a, (__m128)b);
#else
	quad less = a < b;
	return (a & less) | (b & ~less);
#endif
}

/* Four chains of comparisons side by side: one alone would wait for itself. */
static inline int32_t lowest(const struct chain *c)
{
	const quad *p = c->pairs;
	quad a = p[0], b = p[1], d = p[2], e = p[3];
	for (size_t i = 4; i * 4 < c->count; i += 4) {
		a = lower(a, p[i]);
		b = lower(b, p[i + 1]);
		d = lower(d, p[i + 2]);
		e = lower(e, p[i + 3]);
	}
	a = lower(lower(a, b), lower(d, e));
	int32_t x = a[0] < a[1] ? a[0] : a[1], y = a[2] < a[3] ? a[2] : a[3];
	return x < y ? x : y;
}

/* What the last vectors have beyond the symbols, and the list. */
static inline void begin_chain(struct chain *c, size_t count)
{
	c->count = count;
	for (size_t i = (count - 1) / 4; i < (count + 15) / 16 * 4; i++)
		c->pairs[i] = (quad){NO_PAIR, NO_PAIR, NO_PAIR, NO_PAIR};
	for (size_t i = 0; i < count; i++) {
		c->prev[i] = (uint8_t)(i - 1);
		c->next[i] = (uint8_t)(i + 1);
	}
}

/* Merges the pair that `low` tells of. */
static inline void merge_pair(const struct bpe *b, struct chain *c, int32_t low)
{
	size_t at = (size_t)low & ((1 << PLACE_BITS) - 1), right = c->next[at], after = c->next[right];
	c->ids[at] = c->into[at];
	no_pair(c, right);
	c->next[at] = (uint8_t)after;
	if (after < c->count) {
		c->prev[after] = (uint8_t)at;
		set_pair(b, c, at, bpe_rank(b, c->ids[at], c->ids[after]));
	} else {
		no_pair(c, at);
	}
	if (at > 0)
		set_pair(b, c, c->prev[at], bpe_rank(b, c->ids[c->prev[at]], c->ids[at]));
}

static inline void merge(const struct bpe *b, struct chain *c)
{
	int32_t low;
	while ((low = lowest(c)) != NO_PAIR)
		merge_pair(b, c, low);
}

/* Two words that have nothing to do with each other: while one waits for memory the other goes on. */
static inline void merge_two(const struct bpe *b, struct chain *c, struct chain *d)
{
	int32_t low = lowest(c), other = lowest(d);
	while (low != NO_PAIR && other != NO_PAIR) {
		merge_pair(b, c, low);
		merge_pair(b, d, other);
		low = lowest(c);
		other = lowest(d);
	}
	merge(b, c);
	merge(b, d);
}

/* From symbols that are known. */
static inline void fill_chain(const struct bpe *b, struct chain *c, const uint32_t *ids, size_t count)
{
	begin_chain(c, count);
	memcpy(c->ids, ids, count * sizeof *ids);
	for (size_t i = 0; i + 1 < count; i++)
		set_pair(b, c, i, bpe_rank(b, ids[i], ids[i + 1]));
}

/* From bytes, each of which is a symbol. */
static inline void fill_chain_bytes(const struct bpe *b, struct chain *c, const char *word, size_t len)
{
	const unsigned char *s = (const unsigned char *)word;
	begin_chain(c, len);
	for (size_t i = 0; i + 1 < len; i++) {
		c->ids[i] = b->bytes[s[i]];
		set_pair(b, c, i, b->byte_pairs[s[i] << 8 | s[i + 1]]);
	}
	c->ids[len - 1] = b->bytes[s[len - 1]];
}

static inline size_t take_ids(const struct chain *c, uint32_t *ids)
{
	size_t left = 0;
	for (size_t i = 0; i < c->count; i = c->next[i])
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
	for (size_t i = 0; i < c->count; i = c->next[i]) {
		s->ids[left] = c->ids[i];
		s->starts[left++] = s->plain ? (uint32_t)(s->begin + i) : s->starts[i];
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

void bpe_merge_two_spans(const struct bpe *b, struct bpe_span *s, struct bpe_span *t)
{
	struct chain c, d;
	if ((s->count < 2 && !s->plain) || (t->count < 2 && !t->plain)) {
		bpe_merge_span(b, s);
		bpe_merge_span(b, t);
		return;
	}
	fill_span(b, &c, s);
	fill_span(b, &d, t);
	merge_two(b, &c, &d);
	take_span(&c, s);
	take_span(&d, t);
}
