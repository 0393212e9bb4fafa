#include "shape/prefix_siblings.h"

#include <stdlib.h>

struct sibling {
	uint64_t key; /* 0: an empty slot; the root has another key for that reason */
	uint32_t place, children;
};

static const uint64_t root_key = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t key_of(uint64_t block)
{
	return block == PREFIX_SIBLINGS_ROOT ? root_key : block;
}

static size_t slot_of(const struct prefix_siblings *s, uint64_t key)
{
	size_t at = (size_t)((key ^ key >> 29) * UINT64_C(0xbf58476d1ce4e5b9) >> 20) & (s->cap - 1);
	while (s->slots[at].key && s->slots[at].key != key)
		at = (at + 1) & (s->cap - 1);
	return at;
}

static bool grow(struct prefix_siblings *s)
{
	struct prefix_siblings more = {.cap = s->cap ? s->cap * 2 : 1024, .count = s->count};
	more.slots = calloc(more.cap, sizeof *more.slots);
	if (!more.slots)
		return false;
	for (size_t i = 0; i < s->cap; i++)
		if (s->slots[i].key)
			more.slots[slot_of(&more, s->slots[i].key)] = s->slots[i];
	free(s->slots);
	*s = more;
	return true;
}

/* NULL when memory runs out. */
static struct sibling *find_or_add(struct prefix_siblings *s, uint64_t key, bool *is_new)
{
	if (s->count * 4 >= s->cap * 3 && !grow(s)) {
		s->failed = true;
		return NULL;
	}
	struct sibling *found = &s->slots[slot_of(s, key)];
	*is_new = !found->key;
	if (*is_new) {
		found->key = key;
		s->count++;
	}
	return found;
}

uint32_t prefix_siblings_place(struct prefix_siblings *s, uint64_t parent, uint64_t block)
{
	bool is_new;
	struct sibling *found = find_or_add(s, key_of(block), &is_new);
	if (!found || !is_new)
		return found ? found->place : 0;
	struct sibling *before = find_or_add(s, key_of(parent), &is_new);
	if (!before)
		return 0;
	uint32_t place = before->children++;
	s->slots[slot_of(s, key_of(block))].place = place; /* adding the parent may have moved the table */
	return place;
}

void prefix_siblings_release(struct prefix_siblings *s)
{
	free(s->slots);
	*s = (struct prefix_siblings){0};
}
