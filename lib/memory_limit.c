#include "memory_limit.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* Enough for the containers that are full at the same time, and for buffers. */
#define SHARES 6

static size_t limit; /* 0: not set */
static size_t most_by_default = SIZE_MAX;

/* The limit of a container; UINT64_MAX: there is none. */
static uint64_t group_memory(void)
{
	uint64_t bytes = UINT64_MAX;
	FILE *file = fopen("/sys/fs/cgroup/memory.max", "re");
	if (!file)
		return bytes;
	if (fscanf(file, "%" SCNu64, &bytes) != 1)
		bytes = UINT64_MAX;
	fclose(file);
	return bytes;
}

size_t memory_limit(void)
{
	if (limit)
		return limit;
	long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
	uint64_t all = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0, group = group_memory();
	limit = (size_t)((all < group ? all : group) / 4);
	if (limit < MEMORY_LIMIT_LEAST)
		limit = MEMORY_LIMIT_LEAST;
	if (limit > most_by_default)
		limit = most_by_default;
	return limit;
}

void memory_limit_default_at_most(size_t bytes)
{
	most_by_default = bytes;
}

void memory_limit_set(size_t bytes)
{
	limit = bytes;
}

size_t memory_limit_share(void)
{
	return memory_limit() / SHARES;
}
