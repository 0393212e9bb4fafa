#include "http/http2_memory.h"

#include <stdlib.h>

static void *allocate(size_t size, void *data)
{
	(void)data;
	return malloc(size);
}

static void release(void *memory, void *data)
{
	(void)data;
	free(memory);
}

static void *allocate_zeroed(size_t count, size_t size, void *data)
{
	(void)data;
	return calloc(count, size);
}

static void *reallocate(void *memory, size_t size, void *data)
{
	(void)data;
	return realloc(memory, size);
}

nghttp2_mem *http2_memory(void)
{
	static nghttp2_mem memory = {NULL, allocate, release, allocate_zeroed, reallocate};
	return &memory;
}
