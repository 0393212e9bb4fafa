#include "http/deadlines.h"

#include <stdlib.h>

/* A ring buffer. */
struct deadline_ring {
	struct deadline *ring;
	size_t first, count, size; /* size: 0 or a power of two */
};

struct deadlines {
	size_t count;
	struct deadline_ring kinds[];
};

struct deadlines *deadlines_new(size_t kinds)
{
	struct deadlines *d = calloc(1, sizeof *d + kinds * sizeof *d->kinds);
	if (d)
		d->count = kinds;
	return d;
}

void deadlines_free(struct deadlines *d)
{
	for (size_t i = 0; d && i < d->count; i++)
		free(d->kinds[i].ring);
	free(d);
}

static bool grow(struct deadline_ring *k)
{
	size_t size = k->size ? 2 * k->size : 64;
	struct deadline *ring = malloc(size * sizeof *ring);
	if (!ring)
		return false;
	for (size_t i = 0; i < k->count; i++)
		ring[i] = k->ring[(k->first + i) & (k->size - 1)];
	free(k->ring);
	k->ring = ring;
	k->first = 0;
	k->size = size;
	return true;
}

bool deadlines_set(struct deadlines *d, size_t kind, struct deadline deadline)
{
	struct deadline_ring *k = &d->kinds[kind];
	if (k->count == k->size && !grow(k))
		return false;
	const size_t mask = k->size - 1;
	size_t at = k->first + k->count++;
	for (; at != k->first && k->ring[(at - 1) & mask].at_ns > deadline.at_ns; at--)
		k->ring[at & mask] = k->ring[(at - 1) & mask];
	k->ring[at & mask] = deadline;
	return true;
}

const struct deadline *deadlines_first(const struct deadlines *d, size_t kind)
{
	const struct deadline_ring *k = &d->kinds[kind];
	return k->count ? &k->ring[k->first] : NULL;
}

void deadlines_drop_first(struct deadlines *d, size_t kind)
{
	struct deadline_ring *k = &d->kinds[kind];
	k->first = (k->first + 1) & (k->size - 1);
	k->count--;
}
