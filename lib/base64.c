#include "base64.h"

#include <openssl/evp.h>

void base64_encode(struct slice bytes, struct buffer *out)
{
	/* in pieces, since EVP_EncodeBlock takes an int; a multiple of three, so only the last one is padded */
	for (size_t at = 0, piece; at < bytes.len; at += piece) {
		piece = bytes.len - at < 3 * 65536 ? bytes.len - at : 3 * 65536;
		char *to = buffer_reserve(out, piece / 3 * 4 + 8);
		if (!to)
			return;
		out->len += (size_t)EVP_EncodeBlock((unsigned char *)to, (const unsigned char *)bytes.data + at, (int)piece);
	}
}

/* The value of a digit, 0 to 63; -1: not a digit. */
static int digit(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

bool base64_decode_to(struct slice text, char *to, size_t *len)
{
	size_t digits = text.len, n = 0;
	for (int i = 0; i < 2 && digits && text.data[digits - 1] == '='; i++)
		digits--;
	uint32_t bits = 0;
	for (size_t i = 0; i < digits; i++) {
		int value = digit(text.data[i]);
		if (value < 0)
			return false;
		bits = bits << 6 | (uint32_t)value;
		if (i % 4)
			to[n++] = (char)(bits >> (6 - 2 * (i % 4)) & 0xff);
	}
	*len = n;
	return true;
}

int base64_decode(struct slice text, struct buffer *out)
{
	size_t n;
	char *to = buffer_reserve(out, text.len / 4 * 3 + 4);
	if (!to)
		return 0;
	if (!base64_decode_to(text, to, &n))
		return -1;
	out->len += n;
	to[n] = '\0';
	return 0;
}

/* The same as digit() >= 0, without branches: media have millions of digits. */
static unsigned is_digit(unsigned char c)
{
	return (unsigned)((unsigned char)((c | 32) - 'a') < 26) | (unsigned)((unsigned char)(c - '0') < 10) | (c == '+') |
	       (c == '/');
}

size_t base64_digits(struct slice text)
{
	size_t n = 0;
	for (unsigned all = 1; n + 64 <= text.len && all; n += all ? 64 : 0)
		for (size_t i = 0; i < 64; i++)
			all &= is_digit((unsigned char)text.data[n + i]);
	while (n < text.len && is_digit((unsigned char)text.data[n]))
		n++;
	return n;
}
