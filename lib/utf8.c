#include "utf8.h"

#include <stdint.h>
#include <string.h>

size_t utf8_character(const char *text, size_t left)
{
	const unsigned char *at = (const unsigned char *)text;
	unsigned char c = at[0];
	if (c < 0x80)
		return 1;
	size_t len = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : 2;
	if (c < 0xc2 || c > 0xf4 || left < len)
		return 0;
	unsigned char low = 0x80, high = 0xbf;
	if (c == 0xe0)
		low = 0xa0;
	else if (c == 0xed)
		high = 0x9f;
	else if (c == 0xf0)
		low = 0x90;
	else if (c == 0xf4)
		high = 0x8f;
	if (at[1] < low || at[1] > high)
		return 0;
	for (size_t i = 2; i < len; i++)
		if ((at[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

#define HIGH_BITS UINT64_C(0x8080808080808080)

bool utf8_valid(const char *text, size_t len, size_t *good)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t i = 0;
	while (i < len) {
		uint64_t words[4];
		while (i + 32 <= len && (memcpy(words, s + i, 32), !((words[0] | words[1] | words[2] | words[3]) & HIGH_BITS)))
			i += 32;
		while (i + 8 <= len && (memcpy(words, s + i, 8), !(words[0] & HIGH_BITS)))
			i += 8;
		if (i == len)
			break;
		size_t n = utf8_character(text + i, len - i);
		if (n == 0)
			break;
		i += n;
	}
	if (good)
		*good = i;
	return i == len;
}
