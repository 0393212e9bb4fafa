#include "deadline_heap.h"

#include "array.h"

#include <stdlib.h>

static bool before(const struct deadline_entry *a, const struct deadline_entry *b)
{
	return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a->order < b->order;
}

static void put(struct deadline_heap *h, size_t place, struct deadline_entry *d)
{
	h->items[place - 1] = d;
	d->place = place;
}

/* Places d at `place` or above. */
static void rise(struct deadline_heap *h, struct deadline_entry *d, size_t place)
{
	for (; place > 1 && before(d, h->items[place / 2 - 1]); place /= 2)
		put(h, place, h->items[place / 2 - 1]);
	put(h, place, d);
}

/* Places d at `place` or below. */
static void sink(struct deadline_heap *h, struct deadline_entry *d, size_t place)
{
	for (size_t child; (child = 2 * place) <= h->count; place = child) {
		child += child < h->count && before(h->items[child], h->items[child - 1]);
		if (!before(h->items[child - 1], d))
			break;
		put(h, place, h->items[child - 1]);
	}
	put(h, place, d);
}

static void settle(struct deadline_heap *h, struct deadline_entry *d, size_t place)
{
	rise(h, d, place);
	sink(h, d, d->place);
}

bool deadline_heap_set(struct deadline_heap *h, struct deadline_entry *d, int64_t at_ns)
{
	if (!d->place && !array_room(h->items, h->cap, h->count + 1))
		return false;
	d->at_ns = at_ns;
	settle(h, d, d->place ? d->place : ++h->count);
	return true;
}

void deadline_heap_remove(struct deadline_heap *h, struct deadline_entry *d)
{
	size_t place = d->place;
	if (!place)
		return;
	struct deadline_entry *last = h->items[--h->count];
	d->place = 0;
	if (last != d)
		settle(h, last, place);
}

struct deadline_entry *deadline_heap_first(const struct deadline_heap *h)
{
	return h->count ? h->items[0] : NULL;
}

void deadline_heap_release(struct deadline_heap *h)
{
	free(h->items);
	*h = (struct deadline_heap){0};
}
