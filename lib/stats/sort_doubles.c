#include "stats/sort_doubles.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
	FEW = 500, /* for which counting digits does not pay */
	DIGIT_BITS = 11,
	DIGITS = 1 << DIGIT_BITS,
	PASSES = (64 + DIGIT_BITS - 1) / DIGIT_BITS,
};
#define SIGN (UINT64_C(1) << 63)

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Integers in the order of the numbers: those of negative numbers come first, and the largest of them last. */
static uint64_t key_of(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits & SIGN ? ~bits : bits | SIGN;
}

static double value_of(uint64_t key)
{
	uint64_t bits = key & SIGN ? key & ~SIGN : ~key;
	double value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

static unsigned digit_of(uint64_t key, unsigned pass)
{
	return (unsigned)(key >> (pass * DIGIT_BITS)) & (DIGITS - 1);
}

/* Moves the keys in the order of one digit; those with the same keep their order. */
static void sort_by_digit(const uint64_t *from, uint64_t *to, size_t count, unsigned pass, size_t counts[DIGITS])
{
	size_t at = 0;
	for (size_t d = 0; d < DIGITS; d++) {
		size_t of_digit = counts[d];
		counts[d] = at;
		at += of_digit;
	}
	for (size_t i = 0; i < count; i++)
		to[counts[digit_of(from[i], pass)]++] = from[i];
}

void sort_doubles(double *values, size_t count)
{
	size_t(*counts)[DIGITS] = count < FEW ? NULL : calloc(PASSES, sizeof *counts);
	uint64_t *from = counts ? malloc(count * sizeof *from) : NULL, *to = from ? malloc(count * sizeof *to) : NULL;
	if (!to) {
		qsort(values, count, sizeof *values, by_size);
		free(from);
		free(counts);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		from[i] = key_of(values[i]);
		for (unsigned pass = 0; pass < PASSES; pass++)
			counts[pass][digit_of(from[i], pass)]++;
	}
	for (unsigned pass = 0; pass < PASSES; pass++) {
		if (counts[pass][digit_of(from[0], pass)] == count) /* the same in all keys, as the low bits of integers are */
			continue;
		sort_by_digit(from, to, count, pass, counts[pass]);
		uint64_t *sorted = to;
		to = from;
		from = sorted;
	}
	for (size_t i = 0; i < count; i++)
		values[i] = value_of(from[i]);
	free(to);
	free(from);
	free(counts);
}
