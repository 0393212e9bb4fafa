/* Memory running out: remembered, and survived as far as the message.
 *
 * A tree of JSON is built by dozens of small calls, and a parser that got no memory returns the same as for bad input.
 * The failure itself is remembered, for good: errors set afterwards say "out of memory" instead of blaming an input
 * (error.h), streams get no further line and no trailer (stream.h), and no program ends with status 0.
 *
 * The linker leads all of ipf's own calls of malloc(), calloc(), realloc(), reallocarray(), free(), strdup(), strndup()
 * and asprintf() here (`--wrap` in the Makefile), and those of jansson and OpenSSL (cli/allocators.h), libcurl
 * (http/libcurl.h) and nghttp2 (http/http2_memory.h). Small allocations failing come from a reserve of 256 kB instead,
 * which is never given back. Work continues up to the next line of a stream or the next error, and ends there. Large
 * ones return NULL, as they do when the reserve is used up.
 *
 *     if (memory_ran_out()) return ipf_error_memory(err);
 */
#ifndef IPF_MEMORY_H
#define IPF_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

/* malloc() and free() as above, for libraries taking them. */
void *memory_allocate(size_t size);
void memory_free(void *memory);

void memory_note_failure(void); /* from any thread */

/* Notes failures of libraries taking no allocator: `errno = 0; call(); memory_note_errno(errno);` */
void memory_note_errno(int errno_value);
bool memory_ran_out(void);

#endif
