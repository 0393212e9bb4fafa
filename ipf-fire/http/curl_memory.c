#include "http/curl_memory.h"

#include <malloc.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 1032 /* bytes; the C library caches smaller blocks per thread by itself */
#define STEP  ((size_t)1024)
#define STEPS 66 /* enough for libcurl's buffer: 16 KiB and one byte, or 64 KiB (transfer.h) */
#define KEPT  32 /* blocks of each size, per thread */

struct block {
	struct block *next;
};

/* store[n]: free blocks of at least n times STEP bytes. */
static _Thread_local struct {
	struct block *first;
	size_t count;
} store[STEPS];

static void *take(size_t size)
{
	size_t steps = (size + STEP - 1) / STEP;
	if (size <= LEAST || steps >= STEPS)
		return malloc(size);
	struct block *block = store[steps].first;
	if (!block)
		return malloc(steps * STEP);
	store[steps].first = block->next;
	store[steps].count--;
	return block;
}

static void *take_cleared(size_t count, size_t size)
{
	size_t all = count * size;
	if (all <= LEAST || all >= STEPS * STEP || (count && all / count != size))
		return calloc(count, size);
	void *block = take(all);
	return block ? memset(block, 0, all) : NULL;
}

static void give_back(void *data)
{
	struct block *block = data;
	size_t usable = data ? malloc_usable_size(data) : 0, steps = usable / STEP;
	if (usable <= LEAST || steps >= STEPS || store[steps].count == KEPT) {
		free(data);
		return;
	}
	block->next = store[steps].first;
	store[steps].first = block;
	store[steps].count++;
}

CURLcode curl_memory_init(void)
{
	return curl_global_init_mem(CURL_GLOBAL_DEFAULT, take, give_back, realloc, strdup, take_cleared);
}

void curl_memory_drain(void)
{
	for (size_t i = 0; i < STEPS; i++)
		for (struct block *block; (block = store[i].first); free(block)) {
			store[i].first = block->next;
			store[i].count--;
		}
}
