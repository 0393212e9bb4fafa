#include "buffer.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIRST        ((size_t)64)
#define DOUBLED_MOST ((size_t)1 << 20) /* larger ones grow by a quarter, so little of them is unused */

char *buffer_grow(struct buffer *b, size_t len)
{
	if (b->failed)
		return NULL;
	if (len >= SIZE_MAX / 2 - b->len) {
		b->failed = true;
		return NULL;
	}
	size_t needed = b->len + len + 1;
	if (needed > b->cap) {
		size_t cap = b->cap ? b->cap : needed <= FIRST ? FIRST : 256;
		while (cap < needed)
			cap += cap < DOUBLED_MOST ? cap : cap / 4;
		char *data = realloc(b->data, cap);
		if (!data) {
			b->failed = true;
			return NULL;
		}
		b->data = data;
		b->cap = cap;
		b->data[b->len] = '\0';
	}
	return b->data + b->len;
}

void buffer_text(struct buffer *b, const char *text)
{
	buffer_append(b, text, strlen(text));
}

void buffer_slice(struct buffer *b, struct slice s)
{
	if (s.data)
		buffer_append(b, s.data, s.len);
}

void buffer_format(struct buffer *b, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int len = vsnprintf(NULL, 0, format, args);
	char *to = len < 0 ? NULL : buffer_reserve(b, (size_t)len);
	if (to) {
		vsnprintf(to, (size_t)len + 1, format, again);
		b->len += (size_t)len;
	} else {
		b->failed = true;
	}
	va_end(again);
	va_end(args);
}

void buffer_clear(struct buffer *b)
{
	b->len = 0;
	b->failed = false;
	if (b->data)
		b->data[0] = '\0';
}

void buffer_consume(struct buffer *b, size_t len)
{
	if (!len)
		return;
	b->len -= len;
	memmove(b->data, b->data + len, b->len + 1);
}

void buffer_release(struct buffer *b)
{
	free(b->data);
	*b = (struct buffer){0};
}

struct slice slice_of(const char *text)
{
	return (struct slice){text, text ? strlen(text) : 0};
}

struct slice buffer_all(const struct buffer *b)
{
	return (struct slice){b->data ? b->data : "", b->len};
}

bool slice_equal(struct slice a, struct slice b)
{
	if (!a.data || !b.data)
		return a.data == b.data;
	return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

bool slice_is(struct slice s, const char *text)
{
	return s.data && s.len == strlen(text) && memcmp(s.data, text, s.len) == 0;
}

char *slice_dup(struct slice s)
{
	if (!s.data)
		return NULL;
	char *copy = malloc(s.len + 1);
	if (copy) {
		memcpy(copy, s.data, s.len);
		copy[s.len] = '\0';
	}
	return copy;
}
