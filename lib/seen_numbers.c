#include "seen_numbers.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

bool seen_numbers_add(struct seen_numbers *seen, int64_t number)
{
	size_t word = (size_t)number / 64;
	uint64_t bit = UINT64_C(1) << (number % 64);
	if (number < 0 || number >= SEEN_NUMBERS_MOST)
		return false;
	if (!array_reach(seen->bits, seen->words, word)) {
		seen->failed = true;
		return false;
	}
	bool was = seen->bits[word] & bit;
	seen->bits[word] |= bit;
	return was;
}

bool seen_numbers_has(const struct seen_numbers *seen, int64_t number)
{
	return number >= 0 && (uint64_t)number / 64 < seen->words && seen->bits[number / 64] >> (number % 64) & 1;
}

void seen_numbers_copy(struct seen_numbers *to, const struct seen_numbers *from)
{
	seen_numbers_release(to);
	to->failed = from->failed || (from->words > 0 && !array_reach(to->bits, to->words, from->words - 1));
	if (from->words > 0 && !to->failed)
		memcpy(to->bits, from->bits, from->words * sizeof *from->bits);
}

void seen_numbers_release(struct seen_numbers *seen)
{
	free(seen->bits);
	*seen = (struct seen_numbers){0};
}
