#include "hash_index.h"

#include <stdlib.h>
#include <string.h>

#define FIRST 64 /* entries */

static uint64_t key_at(const char *table, size_t size, size_t at)
{
	uint64_t key;
	memcpy(&key, table + at * size, sizeof key);
	return key;
}

static void *find(const char *table, size_t size, size_t room, size_t at, uint64_t key)
{
	for (at &= room - 1;; at = (at + 1) & (room - 1)) {
		const uint64_t found = key_at(table, size, at);
		if (!found || found == key)
			return (char *)(uintptr_t)table + at * size;
	}
}

void *hash_index_at(const void *table, size_t size, size_t room, uint64_t key)
{
	return find(table, size, room, (size_t)key, key);
}

void *hash_index_after(const void *table, size_t size, size_t room, const void *entry)
{
	const size_t at = (size_t)((const char *)entry - (const char *)table) / size;
	return find(table, size, room, at + 1, key_at(table, size, at));
}

/* Entries with one key stay in their order. */
static void move(char *to, size_t room, const char *from, size_t old_room, size_t size)
{
	size_t first = 0; /* begin behind a free entry: entries before it may have wrapped around */
	while (first < old_room && key_at(from, size, first))
		first++;
	for (size_t i = 0; i < old_room; i++) {
		const size_t at = (first + i) & (old_room - 1);
		const uint64_t key = key_at(from, size, at);
		char *free_entry = key ? find(to, size, room, (size_t)key, 0) : NULL;
		if (key)
			memcpy(free_entry, from + at * size, size);
	}
}

bool hash_index_grow(void *table, size_t size, size_t *room, size_t wanted)
{
	char *old;
	size_t larger = *room ? 2 * *room : FIRST;
	memcpy(&old, table, sizeof old);
	while (larger / 4 * 3 < wanted && larger <= SIZE_MAX / 4)
		larger *= 2;
	char *new = larger / 4 * 3 < wanted ? NULL : calloc(larger, size);
	if (!new)
		return false;
	if (old)
		move(new, larger, old, *room, size);
	free(old);
	memcpy(table, &new, sizeof new);
	*room = larger;
	return true;
}
