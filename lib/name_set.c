#include "name_set.h"

#include "memory_limit.h"
#include "name_file.h"
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

static int grow(struct name_set *names)
{
	size_t cap = names->cap ? names->cap * 2 : 1024;
	struct name_set more = {.cap = cap, .hashes = calloc(cap, sizeof *more.hashes)};
	if (!more.hashes)
		return ipf_error_memory(&names->error);
	for (size_t i = 0; i < names->cap; i++)
		if (names->hashes[i])
			more.hashes[slot_of(&more, names->hashes[i])] = names->hashes[i];
	free(names->hashes);
	names->hashes = more.hashes;
	names->cap = cap;
	return 0;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* Moves the hashes into the file. */
static int spill(struct name_set *names)
{
	size_t count = 0;
	for (size_t i = 0; i < names->cap; i++)
		if (names->hashes[i])
			names->hashes[count++] = names->hashes[i];
	qsort(names->hashes, count, sizeof *names->hashes, by_value);
	int status = name_file_merge(&names->file, names->hashes, count, &names->error);
	memset(names->hashes, 0, names->cap * sizeof *names->hashes);
	names->count = 0;
	return status;
}

/* Makes room for a further hash. A table with the limit's size gets fuller than others. */
static int make_room(struct name_set *names)
{
	if (names->count * 2 < names->cap)
		return 0;
	/* while it grows there is one of half the size, too */
	if (names->cap < 1024 || names->cap * 3 * sizeof *names->hashes <= memory_limit_share())
		return grow(names);
	return names->count * 8 < names->cap * 7 ? 0 : spill(names);
}

int name_set_add(struct name_set *names, struct slice name)
{
	uint64_t hash = hash_of(name);
	names->failed = names->failed || make_room(names) < 0;
	if (names->failed)
		return 1;
	size_t at = slot_of(names, hash);
	if (names->hashes[at])
		return 0;
	int there = names->file ? name_file_has(names->file, hash, &names->error) : 0;
	names->failed = there < 0;
	if (there)
		return there < 0;
	names->hashes[at] = hash;
	names->count++;
	return 1;
}

int name_set_check(const struct name_set *names, struct ipf_error *err)
{
	if (!names->failed)
		return 0;
	if (err->kind == IPF_OK)
		*err = names->error;
	return -1;
}

void name_set_release(struct name_set *names)
{
	free(names->hashes);
	name_file_free(names->file);
	*names = (struct name_set){0};
}
