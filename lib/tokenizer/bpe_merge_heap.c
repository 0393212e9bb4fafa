/* Merges any number of symbols with a heap of pairs and a linked list. Used for windows of long words with more than
 * BPE_SHORT symbols (bpe_long.c). */
#include "tokenizer/bpe_merge.h"

#include <stdlib.h>

struct heap {
	uint64_t *items; /* rank << 32 | symbol */
	size_t count;
};

static void heap_push(struct heap *h, uint64_t item)
{
	size_t i = h->count++;
	while (i && h->items[(i - 1) / 2] > item) {
		h->items[i] = h->items[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->items[i] = item;
}

static uint64_t heap_pop(struct heap *h)
{
	uint64_t top = h->items[0], last = h->items[--h->count];
	size_t i = 0;
	for (;;) {
		size_t child = 2 * i + 1;
		if (child >= h->count)
			break;
		if (child + 1 < h->count && h->items[child + 1] < h->items[child])
			child++;
		if (h->items[child] >= last)
			break;
		h->items[i] = h->items[child];
		i = child;
	}
	h->items[i] = last;
	return top;
}

struct links {
	uint32_t prev, next;
};

static void push_pair(const struct bpe *b, struct heap *h, const uint32_t *ids, uint32_t left, uint32_t right)
{
	uint32_t rank = bpe_rank(b, ids[left], ids[right]);
	if (rank != NO_RANK)
		heap_push(h, (uint64_t)rank << 32 | left);
}

#define GONE UINT32_MAX

size_t bpe_merge_heap(const struct bpe *b, uint32_t *ids, uint32_t *starts, size_t count)
{
	/* Every merge pushes two pairs at most, and there are fewer merges than symbols. */
	struct heap heap = {malloc(3 * count * sizeof *heap.items), 0};
	struct links *links = malloc(count * sizeof *links);
	size_t left = 0;

	if (!heap.items || !links) {
		free(heap.items);
		free(links);
		return SIZE_MAX;
	}
	for (uint32_t i = 0; i < count; i++)
		links[i] = (struct links){i - 1, i + 1};
	for (uint32_t i = 0; i + 1 < count; i++)
		push_pair(b, &heap, ids, i, i + 1);
	while (heap.count) {
		uint64_t top = heap_pop(&heap);
		uint32_t at = (uint32_t)top, rank = (uint32_t)(top >> 32);
		uint32_t right = ids[at] == GONE ? (uint32_t)count : links[at].next;
		if (right >= count || bpe_rank(b, ids[at], ids[right]) != rank)
			continue; /* one of the two was merged in the meantime */
		ids[at] = b->merged[rank];
		ids[right] = GONE;
		links[at].next = links[right].next;
		if (links[at].next < count)
			links[links[at].next].prev = at;
		if (at > 0)
			push_pair(b, &heap, ids, links[at].prev, at);
		if (links[at].next < count)
			push_pair(b, &heap, ids, at, links[at].next);
	}
	for (size_t i = 0; i < count; i++)
		if (ids[i] != GONE) {
			ids[left] = ids[i];
			starts[left++] = starts[i];
		}
	free(heap.items);
	free(links);
	return left;
}
