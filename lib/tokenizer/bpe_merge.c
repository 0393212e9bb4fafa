/* Merging a short word: the pair with the lowest rank first, the leftmost of equals, as the reference does with its heap. For up to
 * a hundred symbols looking at all of them is faster than any queue. */
#include "bpe.h"

static inline size_t lowest(const uint32_t *ranks, size_t count)
{
	size_t at = 0;
	uint32_t low = ranks[0];
	for (size_t i = 1; i < count; i++)
		if (ranks[i] < low) {
			low = ranks[i];
			at = i;
		}
	return at;
}

/* `starts` may be NULL; ranks[i] is that of the pair (i, i + 1). */
static inline size_t merge(const struct bpe *b, uint32_t *ids, uint32_t *starts, uint32_t *ranks, size_t count)
{
	while (count > 1) {
		size_t at = lowest(ranks, count - 1);
		if (ranks[at] == NO_RANK)
			break;
		ids[at] = b->merged[ranks[at]];
		/* Symbol at + 1 goes, and so does one rank. */
		count--;
		memmove(ids + at + 1, ids + at + 2, (count - at - 1) * sizeof *ids);
		memmove(ranks + at, ranks + at + 1, (count - at - 1) * sizeof *ranks);
		if (starts)
			memmove(starts + at + 1, starts + at + 2, (count - at - 1) * sizeof *starts);
		if (at > 0)
			ranks[at - 1] = bpe_rank(b, ids[at - 1], ids[at]);
		if (at + 1 < count)
			ranks[at] = bpe_rank(b, ids[at], ids[at + 1]);
	}
	return count;
}

size_t bpe_merge(const struct bpe *b, uint32_t *ids, size_t count)
{
	uint32_t ranks[BPE_SHORT];
	for (size_t i = 0; i + 1 < count; i++)
		ranks[i] = bpe_rank(b, ids[i], ids[i + 1]);
	return merge(b, ids, NULL, ranks, count);
}

/* The bytes of a word to ids (room for len); the ranks of single bytes stand in a table. */
size_t bpe_merge_bytes(const struct bpe *b, const char *word, size_t len, uint32_t *ids)
{
	const unsigned char *s = (const unsigned char *)word;
	uint32_t ranks[BPE_SHORT];
	for (size_t i = 0; i + 1 < len; i++) {
		ids[i] = b->bytes[s[i]];
		ranks[i] = b->byte_pairs[s[i] << 8 | s[i + 1]];
	}
	ids[len - 1] = b->bytes[s[len - 1]];
	return merge(b, ids, NULL, ranks, len);
}

size_t bpe_merge_spans(const struct bpe *b, uint32_t *ids, uint32_t *starts, size_t count)
{
	uint32_t ranks[BPE_SHORT];
	for (size_t i = 0; i + 1 < count; i++)
		ranks[i] = bpe_rank(b, ids[i], ids[i + 1]);
	return merge(b, ids, starts, ranks, count);
}
