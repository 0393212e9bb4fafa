#include "safe_text.h"

#include "utf8.h"

#include <stdint.h>
#include <string.h>

enum { LONGEST = 10 }; /* `\U000e0041` */

static const char ellipsis[] = "…";

struct range {
	uint32_t from, to;
};

/* Characters above ASCII to escape, in ascending order. */
static const struct range unsafe[] = {
	{0x80, 0x9f},       {0xad, 0xad},       {0x34f, 0x34f},     {0x600, 0x605},     {0x61c, 0x61c},
	{0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},     {0x8e2, 0x8e2},     {0x115f, 0x1160},
	{0x17b4, 0x17b5},   {0x180b, 0x180f},   {0x200b, 0x200f},   {0x2028, 0x202e},   {0x2060, 0x206f},
	{0x3164, 0x3164},   {0xfdd0, 0xfdef},   {0xfe00, 0xfe0d},   {0xfeff, 0xfeff},   {0xffa0, 0xffa0},
	{0xfff0, 0xfffb},   {0xfffe, 0xffff},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f},
	{0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0000, 0xe0fff},
};

static bool is_unsafe(uint32_t c)
{
	if (c < 0x80)
		return c < 0x20 || c == 0x7f;
	if ((c & 0xfffe) == 0xfffe)
		return true;
	size_t low = 0, high = sizeof unsafe / sizeof *unsafe;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (c > unsafe[middle].to)
			low = middle + 1;
		else
			high = middle;
	}
	return low < sizeof unsafe / sizeof *unsafe && c >= unsafe[low].from;
}

/* The code point of a well-formed character of `len` bytes. */
static uint32_t code_point(const char *at, size_t len)
{
	static const unsigned char lead_bits[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
	uint32_t c = (unsigned char)at[0] & lead_bits[len];
	for (size_t i = 1; i < len; i++)
		c = c << 6 | ((unsigned char)at[i] & 0x3f);
	return c;
}

/* The safe form of the character at `at`: its length is returned, *used is how many bytes it stands for. */
static size_t escape(char to[LONGEST + 1], const char *at, size_t left, size_t *used)
{
	static const char names[] = {['\t'] = 't', ['\n'] = 'n', ['\r'] = 'r'};
	size_t len = utf8_character(at, left);
	*used = len ? len : 1;
	if (!len)
		return (size_t)snprintf(to, LONGEST + 1, "\\x%02x", (unsigned)(unsigned char)*at);
	uint32_t c = code_point(at, len);
	if (!is_unsafe(c)) {
		memcpy(to, at, len);
		return len;
	}
	if (c < sizeof names && names[c])
		return (size_t)snprintf(to, LONGEST + 1, "\\%c", names[c]);
	return (size_t)snprintf(to, LONGEST + 1, c < 0x80 ? "\\x%02x" : c < 0x10000 ? "\\u%04x" : "\\U%08x", (unsigned)c);
}

size_t safe_text(char *to, size_t size, struct slice text)
{
	size_t at = 0, used, len = 0, fits = 0; /* fits: as much as leaves room for the ellipsis */
	char form[LONGEST + 1];
	while (text.data && at < text.len) {
		size_t n = escape(form, text.data + at, text.len - at, &used);
		if (len + n >= size) {
			memcpy(to + fits, ellipsis, sizeof ellipsis);
			return fits + sizeof ellipsis - 1;
		}
		memcpy(to + len, form, n);
		len += n;
		at += used;
		if (len + sizeof ellipsis <= size)
			fits = len;
	}
	to[len] = '\0';
	return len;
}

/* The length of the beginning needing no escape. */
static size_t safe_length(const char *data, size_t len)
{
	size_t at = 0;
	while (at < len) {
		size_t n = utf8_character(data + at, len - at);
		if (!n || is_unsafe(code_point(data + at, n)))
			break;
		at += n;
	}
	return at;
}

void safe_text_append(struct buffer *to, struct slice text)
{
	char form[LONGEST + 1];
	size_t used;
	for (size_t at = 0; text.data && at < text.len; at += used) {
		used = safe_length(text.data + at, text.len - at);
		if (used)
			buffer_append(to, text.data + at, used);
		else
			buffer_append(to, form, escape(form, text.data + at, text.len - at, &used));
	}
}

void safe_text_write(FILE *to, struct slice text)
{
	char form[LONGEST + 1];
	size_t used;
	for (size_t at = 0; text.data && at < text.len; at += used) {
		used = safe_length(text.data + at, text.len - at);
		if (used)
			fwrite(text.data + at, 1, used, to);
		else
			fwrite(form, 1, escape(form, text.data + at, text.len - at, &used), to);
	}
}

struct shown_text shown_slice(struct slice text)
{
	struct shown_text s;
	safe_text(s.text, sizeof s.text, text);
	return s;
}

struct shown_text shown(const char *text)
{
	return shown_slice(slice_of(text));
}

bool safe_text_is_safe(struct slice text)
{
	return !text.data || safe_length(text.data, text.len) == text.len;
}
