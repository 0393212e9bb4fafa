/* How much memory the data of a program may take before they go into temporary files: --memory.
 *
 * The limit is the process's, as those of stream.h are. Each container of data takes a share of it, so several can be
 * full at the same time.
 */
#ifndef IPF_MEMORY_LIMIT_H
#define IPF_MEMORY_LIMIT_H

#include <stddef.h>

/* The least limit by default. */
#define MEMORY_LIMIT_LEAST ((size_t)256 << 20)

/* In bytes. By default a quarter of the machine's memory, or of that which its control group leaves to the process. */
size_t memory_limit(void);
void memory_limit_set(size_t bytes); /* 0: the default */
/* Lowers the default, for a program on a machine that has other work. To be called before the default is taken. */
void memory_limit_default_at_most(size_t bytes);
/* The bytes that one container may have in memory. */
size_t memory_limit_share(void);

#endif
