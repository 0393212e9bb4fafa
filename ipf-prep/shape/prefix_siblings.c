#include "shape/prefix_siblings.h"

#include "hash_index.h"

#include <stdlib.h>

struct sibling {
	uint64_t key; /* the block's */
	uint32_t place, children;
};

/* NULL when memory runs out. */
static struct sibling *find_or_add(struct prefix_siblings *s, uint64_t block)
{
	if (!hash_index_room(s->slots, s->cap, s->count + 1)) {
		s->failed = true;
		return NULL;
	}
	return hash_index_find(s->slots, s->cap, hash_index_key(block));
}

uint32_t prefix_siblings_place(struct prefix_siblings *s, uint64_t parent, uint64_t block)
{
	struct sibling *before = find_or_add(s, parent);
	if (!before)
		return 0;
	s->count += !before->key;
	before->key = hash_index_key(parent);
	const uint32_t place = before->children;
	struct sibling *found = find_or_add(s, block); /* which may move the table */
	if (!found || found->key)
		return found ? found->place : 0;
	s->count++;
	*found = (struct sibling){.key = hash_index_key(block), .place = place};
	before = hash_index_find(s->slots, s->cap, hash_index_key(parent));
	before->children++;
	return place;
}

void prefix_siblings_release(struct prefix_siblings *s)
{
	free(s->slots);
	*s = (struct prefix_siblings){0};
}
