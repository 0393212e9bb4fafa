#include "shape/prefix_siblings.h"

#include <stdlib.h>

struct kinsman {
	uint64_t key; /* 0: empty, which is why the root is not in it by that */
	uint32_t place, children;
};

static const uint64_t root = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t key_of(uint64_t block)
{
	return block == PREFIX_SIBLINGS_ROOT ? root : block;
}

static size_t slot_of(const struct prefix_siblings *kin, uint64_t key)
{
	size_t at = (size_t)((key ^ key >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 20) & (kin->cap - 1);
	while (kin->slots[at].key && kin->slots[at].key != key)
		at = (at + 1) & (kin->cap - 1);
	return at;
}

static bool grow(struct prefix_siblings *kin)
{
	struct prefix_siblings more = {.cap = kin->cap ? kin->cap * 2 : 1024, .count = kin->count};
	more.slots = calloc(more.cap, sizeof *more.slots);
	if (!more.slots)
		return false;
	for (size_t i = 0; i < kin->cap; i++)
		if (kin->slots[i].key)
			more.slots[slot_of(&more, kin->slots[i].key)] = kin->slots[i];
	free(kin->slots);
	*kin = more;
	return true;
}

/* The one of this key, which may be new (*isnew); NULL when memory runs out. */
static struct kinsman *meet(struct prefix_siblings *kin, uint64_t key, bool *isnew)
{
	if (kin->count * 4 >= kin->cap * 3 && !grow(kin)) {
		kin->failed = true;
		return NULL;
	}
	struct kinsman *k = &kin->slots[slot_of(kin, key)];
	*isnew = !k->key;
	if (*isnew) {
		k->key = key;
		kin->count++;
	}
	return k;
}

uint32_t prefix_siblings_place(struct prefix_siblings *kin, uint64_t parent, uint64_t block)
{
	bool isnew;
	struct kinsman *k = meet(kin, key_of(block), &isnew);
	if (!k || !isnew)
		return k ? k->place : 0;
	struct kinsman *of = meet(kin, key_of(parent), &isnew);
	if (!of)
		return 0;
	uint32_t place = of->children++;
	kin->slots[slot_of(kin, key_of(block))].place = place; /* the table may have moved */
	return place;
}

void prefix_siblings_release(struct prefix_siblings *kin)
{
	free(kin->slots);
	*kin = (struct prefix_siblings){0};
}
