#include "cli/allocators.h"

#include "memory.h"

#include <jansson.h>
#include <openssl/crypto.h>
#include <stdlib.h>

static void *allocate(size_t size, const char *file, int line)
{
	(void)file, (void)line;
	return malloc(size);
}

static void *reallocate(void *memory, size_t size, const char *file, int line)
{
	(void)file, (void)line;
	return realloc(memory, size);
}

static void release(void *memory, const char *file, int line)
{
	(void)file, (void)line;
	free(memory);
}

void allocators_set(void)
{
	json_set_alloc_funcs(memory_allocate, memory_free);
	CRYPTO_set_mem_functions(allocate, reallocate, release);
}
