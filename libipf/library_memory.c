/* memory.h for the library: the process has its own allocator, of which nothing is intercepted, and a failure is
 * remembered until the next call. */
#include "memory.h"

#include "library.h"

#include <errno.h>
#include <stdlib.h>

static _Thread_local bool ran_out;

void library_begin(void)
{
	ran_out = false;
}

void memory_note_failure(void)
{
	ran_out = true;
}

void memory_note_errno(int errno_value)
{
	if (errno_value == ENOMEM)
		memory_note_failure();
}

bool memory_ran_out(void)
{
	return ran_out;
}

void *memory_allocate(size_t size)
{
	return malloc(size);
}

void memory_free(void *memory)
{
	free(memory);
}
