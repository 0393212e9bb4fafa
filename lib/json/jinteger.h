/* Integers of JSON as nearly all are written: no sign, at most 15 digits. Eight digits at a time.
 *
 *     if (jinteger_read(&at, end, &value)) …  // at: behind the digits
 */
#ifndef IPF_JINTEGER_H
#define IPF_JINTEGER_H

#include "json/bytes8.h"

#include <stdbool.h>

/* 16 bytes can be read at *at. */
static inline bool jinteger_read_here(const char **at, int64_t *value)
{
	static const int64_t powers[8] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000};
	uint64_t word = bytes8_load(*at), rest = bytes8_not_digit(word);
	unsigned count = rest ? bytes8_first(rest) : 8;
	if (count == 0 || (**at == '0' && count > 1))
		return false;
	*value = (int64_t)bytes8_decimal(word, count);
	*at += count;
	if (rest)
		return true;
	word = bytes8_load(*at);
	rest = bytes8_not_digit(word);
	if (!rest) /* 16 digits or more */
		return false;
	count = bytes8_first(rest);
	if (count > 0)
		*value = *value * powers[count] + (int64_t)bytes8_decimal(word, count);
	*at += count;
	return true;
}

/* False: something else is at *at. */
static inline bool jinteger_read(const char **at, const char *end, int64_t *value)
{
	char copy[16] = {0};
	const char *in = copy;
	size_t left = (size_t)(end - *at);
	if (left >= sizeof copy)
		return jinteger_read_here(at, value);
	memcpy(copy, *at, left);
	bool good = jinteger_read_here(&in, value);
	*at += in - copy;
	return good;
}

#endif
