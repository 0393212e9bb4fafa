#include "tokenizer/byte_level.h"

#include "tokenizer/code_point.h"

static bool itself(uint32_t c)
{
	return (c >= 0x21 && c <= 0x7e) || (c >= 0xa1 && c <= 0xac) || (c >= 0xae && c <= 0xff);
}

/* The number of bytes below `byte` that do not represent themselves. */
static uint32_t others_below(uint32_t byte)
{
	if (byte <= 0x21)
		return byte;
	if (byte <= 0x7e)
		return 0x21;
	if (byte <= 0xa1)
		return 0x21 + byte - 0x7f;
	return byte <= 0xad ? 0x21 + 0x22 : 0x21 + 0x22 + 1;
}

uint32_t byte_level_char(unsigned char byte)
{
	return itself(byte) ? byte : 0x100 + others_below(byte);
}

/* The byte a code point represents, or -1. */
static int byte_level_byte(uint32_t c)
{
	if (c < 0x100)
		return itself(c) ? (int)c : -1;
	uint32_t n = c - 0x100;
	if (n < 0x21)
		return (int)n;
	if (n < 0x21 + 0x22)
		return (int)(0x7f + n - 0x21);
	return n == 0x21 + 0x22 ? 0xad : -1;
}

bool byte_level_bytes(const char *text, size_t len, struct buffer *out)
{
	const char *end = text + len;
	size_t before = out->len;
	while (text < end) {
		int byte = byte_level_byte(utf8_next(&text));
		if (byte < 0) {
			out->len = before;
			return false;
		}
		buffer_byte(out, (char)byte);
	}
	return true;
}
