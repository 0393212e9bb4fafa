#include "stats/sort_numbers.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
	FEW = 500, /* for which counting digits does not pay */
	DIGIT_BITS = 11,
	DIGITS = 1 << DIGIT_BITS,
	PASSES = (64 + DIGIT_BITS - 1) / DIGIT_BITS,
};
#define SIGN (UINT64_C(1) << 63)

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
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

/* Sorts by the differing digits, with `spare` as room. Returns where the sorted keys are: one of both. */
static uint64_t *sort_by_digits(uint64_t *keys, uint64_t *spare, size_t count, size_t (*counts)[DIGITS])
{
	for (size_t i = 0; i < count; i++)
		for (unsigned pass = 0; pass < PASSES; pass++)
			counts[pass][digit_of(keys[i], pass)]++;
	for (unsigned pass = 0; pass < PASSES; pass++) {
		if (counts[pass][digit_of(keys[0], pass)] == count) /* the same in all keys, as the low bits of integers are */
			continue;
		sort_by_digit(keys, spare, count, pass, counts[pass]);
		uint64_t *sorted = spare;
		spare = keys;
		keys = sorted;
	}
	return keys;
}

static void sort_keys(uint64_t *keys, size_t count)
{
	bool sorted = true;
	for (size_t i = 1; i < count && sorted; i++)
		sorted = keys[i - 1] <= keys[i];
	if (sorted)
		return;
	size_t(*counts)[DIGITS] = count < FEW ? NULL : calloc(PASSES, sizeof *counts);
	uint64_t *spare = counts ? malloc(count * sizeof *spare) : NULL;
	uint64_t *in = spare ? sort_by_digits(keys, spare, count, counts) : NULL;
	if (!spare)
		qsort(keys, count, sizeof *keys, by_size);
	else if (in != keys)
		memcpy(keys, in, count * sizeof *keys);
	free(spare);
	free(counts);
}

/* A number and its key are of one size, and memcpy is how one is read in the place of the other. */
void sort_doubles(double *values, size_t count)
{
	uint64_t *keys = (uint64_t *)(void *)values;
	for (size_t i = 0; i < count; i++) {
		uint64_t key = sort_key_of_double(values[i]);
		memcpy(&values[i], &key, sizeof key);
	}
	sort_keys(keys, count);
	for (size_t i = 0; i < count; i++) {
		uint64_t key;
		memcpy(&key, &values[i], sizeof key);
		values[i] = value_of(key);
	}
}

void sort_integers(int64_t *values, size_t count)
{
	uint64_t *keys = (uint64_t *)values;
	for (size_t i = 0; i < count; i++)
		keys[i] ^= SIGN;
	sort_keys(keys, count);
	for (size_t i = 0; i < count; i++)
		keys[i] ^= SIGN;
}
