/* A growing byte buffer, and slices that borrow bytes.
 *
 *     struct buffer out = {0};
 *     buffer_text(&out, "model");
 *     buffer_format(&out, "=%d", 7);
 *     if (out.failed) …                 // memory ran out; everything appended since is missing
 *     buffer_release(&out);
 *
 * `failed` is sticky, so a caller checks it once, where the bytes are used (stream_writer_line refuses a failed
 * buffer). `data` always ends in a NUL that `len` does not count; it is NULL until something is appended.
 */
#ifndef IPF_BUFFER_H
#define IPF_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct buffer {
	char *data;
	size_t len, cap;
	bool failed;
};

/* Borrowed bytes. data == NULL: absent. */
struct slice {
	const char *data;
	size_t len;
};

/* Makes room for at least `len` more bytes and returns where they go. NULL, and b->failed, when memory runs out. The
 * caller writes there and adds to b->len. */
char *buffer_grow(struct buffer *b, size_t len); /* does so when there is not enough room, or after a failure */
static inline char *buffer_reserve(struct buffer *b, size_t len)
{
	return len < b->cap - b->len && !b->failed ? b->data + b->len : buffer_grow(b, len);
}

static inline void buffer_append(struct buffer *b, const void *data, size_t len)
{
	char *to = buffer_reserve(b, len);
	if (!to)
		return;
	if (len)
		memcpy(to, data, len);
	to[len] = '\0';
	b->len += len;
}

static inline void buffer_byte(struct buffer *b, char c)
{
	char *to = buffer_reserve(b, 1);
	if (!to)
		return;
	to[0] = c;
	to[1] = '\0';
	b->len++;
}

void buffer_text(struct buffer *b, const char *text);
void buffer_slice(struct buffer *b, struct slice s);
void buffer_format(struct buffer *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Empties the buffer, keeps its memory and clears `failed`. */
void buffer_clear(struct buffer *b);
/* Removes the first `len` bytes. */
void buffer_consume(struct buffer *b, size_t len);
void buffer_release(struct buffer *b);

struct slice slice_of(const char *text); /* borrows a C string; NULL gives an absent slice */
struct slice buffer_all(const struct buffer *b);
bool slice_equal(struct slice a, struct slice b); /* two absent slices are equal */
bool slice_is(struct slice s, const char *text);
/* Copies the bytes to a C string the caller frees. NULL: absent slice, or out of memory. */
char *slice_dup(struct slice s);

#endif
