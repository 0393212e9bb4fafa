#include "tokenizer/regex_translator.h"

#include <string.h>

int translator_refuse(const struct translator *t, const char *at, const char *what)
{
	size_t len = (size_t)(t->end - t->begin);
	return ipf_error_set(t->err, IPF_INPUT, "regex \"%.*s\": byte %zu: %s", (int)(len < 200 ? len : 200), t->begin,
	                     (size_t)(at - t->begin), what);
}

bool translator_sees(const struct translator *t, const char *text)
{
	size_t len = strlen(text);
	return (size_t)(t->end - t->at) >= len && memcmp(t->at, text, len) == 0;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

int32_t translator_digits(struct translator *t, int base, int most)
{
	int32_t value = 0;
	int n = 0;
	while (n < most && t->at < t->end && digit_value(*t->at) < base && value < 0x110000) {
		value = value * base + digit_value(*t->at++);
		n++;
	}
	return n ? value : -1;
}

int32_t translator_number(struct translator *t, char kind)
{
	if (kind == 'x' && translator_sees(t, "{")) {
		t->at++;
		int32_t value = translator_digits(t, 16, 8);
		if (!translator_sees(t, "}") || value > 0x10ffff)
			return -1;
		t->at++;
		return value;
	}
	if (kind == 'x')
		return translator_digits(t, 16, 2);
	if (kind == 'u') {
		const char *from = t->at;
		int32_t value = translator_digits(t, 16, 4);
		return t->at - from == 4 ? value : -1;
	}
	t->at--;
	return translator_digits(t, 8, 3);
}
