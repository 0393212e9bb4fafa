#include "array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define FIRST 16 /* items */

/* The pointer is copied, since it can be one to any type. */
static bool resize(void *items, size_t item_size, size_t count)
{
	void *old, *new;
	memcpy(&old, items, sizeof old);
	if (!(new = reallocarray(old, count, item_size)))
		return false;
	memcpy(items, &new, sizeof new);
	return true;
}

static size_t read_integer(const void *from, size_t size)
{
	uint32_t narrow = 0;
	uint64_t wide = 0;
	memcpy(size == sizeof narrow ? (void *)&narrow : (void *)&wide, from, size);
	return size == sizeof narrow ? narrow : (size_t)wide;
}

bool array_grow(void *items, size_t item_size, void *cap, size_t cap_size, size_t wanted)
{
	const size_t most = cap_size == sizeof(uint32_t) ? INT32_MAX : INT64_MAX;
	const size_t now = read_integer(cap, cap_size);
	size_t larger = now > most / 2 ? most : now ? 2 * now : FIRST;
	larger = larger < wanted ? wanted : larger;
	if (larger > most || !resize(items, item_size, larger))
		return false;
	const uint32_t narrow = (uint32_t)larger;
	const uint64_t wide = larger;
	memcpy(cap, cap_size == sizeof narrow ? (const void *)&narrow : (const void *)&wide, cap_size);
	return true;
}

bool array_double(void *items, size_t item_size, size_t count)
{
	return (count & (count - 1)) != 0 || (count <= SIZE_MAX / 2 && resize(items, item_size, count ? 2 * count : 1));
}

bool array_extend(void *items, size_t item_size, void *count, size_t count_size, size_t index)
{
	char *first;
	const size_t before = read_integer(count, count_size);
	if (index == SIZE_MAX || !array_grow(items, item_size, count, count_size, index + 1))
		return false;
	memcpy(&first, items, sizeof first);
	memset(first + before * item_size, 0, (read_integer(count, count_size) - before) * item_size);
	return true;
}
