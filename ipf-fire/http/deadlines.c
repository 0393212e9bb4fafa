#include "http/deadlines.h"

#include <stdlib.h>

/* A ring. */
struct kind {
	struct deadline *ring;
	size_t first, count, size; /* size: 0 or a power of two */
};

struct deadlines {
	size_t count;
	struct kind kinds[];
};

struct deadlines *deadlines_new(size_t kinds)
{
	struct deadlines *a = calloc(1, sizeof *a + kinds * sizeof *a->kinds);
	if (a)
		a->count = kinds;
	return a;
}

void deadlines_free(struct deadlines *a)
{
	for (size_t i = 0; a && i < a->count; i++)
		free(a->kinds[i].ring);
	free(a);
}

static bool grow(struct kind *k)
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

bool deadlines_set(struct deadlines *a, size_t kind, struct deadline deadline)
{
	struct kind *k = &a->kinds[kind];
	if (k->count == k->size && !grow(k))
		return false;
	k->ring[(k->first + k->count++) & (k->size - 1)] = deadline;
	return true;
}

const struct deadline *deadlines_first(const struct deadlines *a, size_t kind)
{
	const struct kind *k = &a->kinds[kind];
	return k->count ? &k->ring[k->first] : NULL;
}

void deadlines_drop_first(struct deadlines *a, size_t kind)
{
	struct kind *k = &a->kinds[kind];
	k->first = (k->first + 1) & (k->size - 1);
	k->count--;
}
