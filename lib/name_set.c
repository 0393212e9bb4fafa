#include "name_set.h"

#include "text_hash.h"

#include <stdlib.h>

static uint64_t hash_of(struct slice name)
{
	uint64_t h = text_hash_mixed(name);
	return h ? h : 1;
}

/* The slot of the hash, or the free slot where it belongs. */
static size_t slot_of(const struct name_set *names, uint64_t hash)
{
	size_t at = (size_t)hash & (names->cap - 1);
	while (names->hashes[at] && names->hashes[at] != hash)
		at = (at + 1) & (names->cap - 1);
	return at;
}

static void grow(struct name_set *names)
{
	struct name_set more = {.cap = names->cap ? names->cap * 2 : 1024, .count = names->count};
	more.hashes = calloc(more.cap, sizeof *more.hashes);
	if (!more.hashes) {
		names->failed = true;
		return;
	}
	for (size_t i = 0; i < names->cap; i++)
		if (names->hashes[i])
			more.hashes[slot_of(&more, names->hashes[i])] = names->hashes[i];
	free(names->hashes);
	*names = more;
}

int name_set_add(struct name_set *names, struct slice name)
{
	uint64_t hash = hash_of(name);
	if (names->count * 2 >= names->cap)
		grow(names);
	if (names->failed)
		return 1;
	size_t at = slot_of(names, hash);
	if (names->hashes[at])
		return 0;
	names->hashes[at] = hash;
	names->count++;
	return 1;
}

void name_set_release(struct name_set *names)
{
	free(names->hashes);
	*names = (struct name_set){0};
}
