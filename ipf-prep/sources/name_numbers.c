#include "sources/name_numbers.h"

#include "text_hash.h"

#include <stdbool.h>
#include <stdlib.h>

static uint32_t *find_slot(const struct name_numbers *n, struct slice name)
{
	size_t at = (size_t)text_hash_mixed(name) & (n->slot_count - 1);
	while (n->slots[at] && !slice_equal(n->list[n->slots[at] - 1], name))
		at = (at + 1) & (n->slot_count - 1);
	return &n->slots[at];
}

/* At most half of the slots are in use. */
static bool grow_slots(struct name_numbers *n)
{
	if (n->count * 2 < n->slot_count)
		return true;
	size_t wanted = n->slot_count ? n->slot_count * 2 : 256;
	uint32_t *slots = n->count < UINT32_MAX - 1 ? calloc(wanted, sizeof *slots) : NULL;
	if (!slots)
		return false;
	free(n->slots);
	n->slots = slots;
	n->slot_count = wanted;
	for (size_t i = 0; i < n->count; i++)
		*find_slot(n, n->list[i]) = (uint32_t)i + 1;
	return true;
}

static bool grow_list(struct name_numbers *n)
{
	if (n->count < n->cap)
		return true;
	size_t wanted = n->cap ? n->cap * 2 : 64;
	struct slice *list = reallocarray(n->list, wanted, sizeof *list);
	if (!list)
		return false;
	n->list = list;
	n->cap = wanted;
	return true;
}

size_t name_number(struct name_numbers *n, struct slice name)
{
	if (!grow_slots(n))
		return NO_NUMBER;
	uint32_t *slot = find_slot(n, name);
	if (*slot)
		return *slot - 1;
	char *copy = grow_list(n) ? slice_dup(name) : NULL;
	if (!copy)
		return NO_NUMBER;
	n->list[n->count] = (struct slice){copy, name.len};
	*slot = (uint32_t)n->count + 1;
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
