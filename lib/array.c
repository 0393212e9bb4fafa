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

bool array_grow(void *items, size_t item_size, void *cap, size_t cap_size, size_t wanted)
{
	const size_t most = cap_size == sizeof(uint32_t) ? INT32_MAX : INT64_MAX;
	uint32_t narrow = 0;
	uint64_t wide = 0;
	memcpy(cap_size == sizeof narrow ? (void *)&narrow : (void *)&wide, cap, cap_size);
	const size_t now = cap_size == sizeof narrow ? narrow : (size_t)wide;
	size_t larger = now > most / 2 ? most : now ? 2 * now : FIRST;
	larger = larger < wanted ? wanted : larger;
	if (larger > most || !resize(items, item_size, larger))
		return false;
	narrow = (uint32_t)larger;
	wide = larger;
	memcpy(cap, cap_size == sizeof narrow ? (const void *)&narrow : (const void *)&wide, cap_size);
	return true;
}

bool array_double(void *items, size_t item_size, size_t count)
{
	return (count & (count - 1)) != 0 || (count <= SIZE_MAX / 2 && resize(items, item_size, count ? 2 * count : 1));
}
