#include "sort/sort_key.h"

#include <endian.h>

void sort_key_number(struct buffer *key, int64_t number)
{
	uint64_t bytes = htobe64((uint64_t)number ^ UINT64_C(1) << 63);
	buffer_append(key, &bytes, sizeof bytes);
}

/* Two NULs end a text; a NUL within it is followed by the greatest byte instead. */
void sort_key_text(struct buffer *key, struct slice text)
{
	const char *from = text.data, *end = text.data ? text.data + text.len : NULL;
	for (const char *nul; from && (nul = memchr(from, '\0', (size_t)(end - from))); from = nul + 1) {
		buffer_append(key, from, (size_t)(nul - from));
		buffer_append(key, "\0\xff", 2);
	}
	if (from)
		buffer_append(key, from, (size_t)(end - from));
	buffer_append(key, "\0\0", 2);
}
