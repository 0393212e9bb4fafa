/* Digits of base64. */
#ifndef IPF_TOKENIZER_BASE64_H
#define IPF_TOKENIZER_BASE64_H

/* The value of a digit, 0 to 63; -1: not a digit. */
static inline int base64_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

#endif
