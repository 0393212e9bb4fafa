#include "sources/name_numbers.h"

#include "array.h"
#include "hash_index.h"
#include "text_hash.h"

#include <stdlib.h>

struct name_slot {
	uint64_t key;
	uint32_t number;
};

size_t name_number(struct name_numbers *n, struct slice name)
{
	if (n->count >= UINT32_MAX - 1 || !hash_index_room(n->slots, n->slot_count, n->count + 1))
		return NO_NUMBER;
	const uint64_t key = hash_index_key(text_hash(name));
	struct name_slot *slot = hash_index_find(n->slots, n->slot_count, key);
	while (slot->key && !slice_equal(n->list[slot->number], name))
		slot = hash_index_next(n->slots, n->slot_count, slot);
	if (slot->key)
		return slot->number;
	char *copy = array_room(n->list, n->cap, n->count + 1) ? slice_dup(name) : NULL;
	if (!copy)
		return NO_NUMBER;
	n->list[n->count] = (struct slice){copy, name.len};
	*slot = (struct name_slot){key, (uint32_t)n->count};
	return n->count++;
}

void name_numbers_release(struct name_numbers *n)
{
	for (size_t i = 0; i < n->count; i++)
		free((char *)(uintptr_t)n->list[i].data);
	free(n->list);
	free(n->slots);
	*n = (struct name_numbers){0};
}
