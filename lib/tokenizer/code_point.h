/* Code points in UTF-8, one at a time. The text has to be valid (utf8_valid in utf8.h checks it). */
#ifndef IPF_TOKENIZER_CODE_POINT_H
#define IPF_TOKENIZER_CODE_POINT_H

#include "buffer.h"

#include <stddef.h>
#include <stdint.h>

/* Returns the code point at `*at` and moves `*at` past it. */
static inline uint32_t utf8_next(const char **at)
{
	const unsigned char *s = (const unsigned char *)*at;
	if (s[0] < 0x80) {
		*at += 1;
		return s[0];
	}
	if (s[0] < 0xe0) {
		*at += 2;
		return (uint32_t)(s[0] & 0x1f) << 6 | (s[1] & 0x3f);
	}
	if (s[0] < 0xf0) {
		*at += 3;
		return (uint32_t)(s[0] & 0x0f) << 12 | (uint32_t)(s[1] & 0x3f) << 6 | (s[2] & 0x3f);
	}
	*at += 4;
	return (uint32_t)(s[0] & 0x07) << 18 | (uint32_t)(s[1] & 0x3f) << 12 | (uint32_t)(s[2] & 0x3f) << 6 | (s[3] & 0x3f);
}

/* Writes a code point and returns its length in bytes, 1 to 4. */
static inline size_t utf8_put(char *to, uint32_t c)
{
	unsigned char *s = (unsigned char *)to;
	if (c < 0x80) {
		s[0] = (unsigned char)c;
		return 1;
	}
	if (c < 0x800) {
		s[0] = (unsigned char)(0xc0 | c >> 6);
		s[1] = (unsigned char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		s[0] = (unsigned char)(0xe0 | c >> 12);
		s[1] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
		s[2] = (unsigned char)(0x80 | (c & 0x3f));
		return 3;
	}
	s[0] = (unsigned char)(0xf0 | c >> 18);
	s[1] = (unsigned char)(0x80 | (c >> 12 & 0x3f));
	s[2] = (unsigned char)(0x80 | (c >> 6 & 0x3f));
	s[3] = (unsigned char)(0x80 | (c & 0x3f));
	return 4;
}

/* Appends a code point. Out of memory is noted in out->failed. */
static inline void utf8_append(struct buffer *out, uint32_t c)
{
	char *to = buffer_reserve(out, 4);
	if (to)
		out->len += utf8_put(to, c);
}

#endif
