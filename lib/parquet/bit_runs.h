/* Small integers of a fixed number of bits: the levels of values, indexes into dictionaries, and packed booleans.
 *
 * Parquet writes them as a hybrid of runs (a value and how often it is repeated) and of groups of eight packed values,
 * least significant bit first; levels of old files are packed only, most significant bit first. They are decoded
 * piecewise, so no memory depends on how many there are said to be.
 *
 *     struct bit_runs runs;
 *     bit_runs_begin(&runs, bytes, 3);
 *     size_t got = bit_runs_read(&runs, to, 512);  // fewer: the bytes end
 *
 * Specification: github.com/apache/parquet-format, Encodings.md (RLE, BIT_PACKED).
 */
#ifndef IPF_BIT_RUNS_H
#define IPF_BIT_RUNS_H

#include "buffer.h"

#include <endian.h>
#include <stdbool.h>
#include <stdint.h>

struct bit_runs {
	const unsigned char *at, *end;
	unsigned width;              /* bits of a value, at most 32; 0: all values are 0, and there need be no bytes */
	uint64_t left;               /* values of the present run */
	uint32_t value;              /* the value of a repeating run */
	const unsigned char *packed; /* values of a run that packs them; NULL: it repeats one */
	const unsigned char *packed_end;
	uint64_t bit; /* the next value's */
	bool msb_first;
};

void bit_runs_begin(struct bit_runs *r, struct slice bytes, unsigned width);
/* Values packed without runs: as many as the bytes hold. */
void bit_runs_begin_packed(struct bit_runs *r, struct slice bytes, unsigned width, bool msb_first);
/* Decodes up to `want` values: how many there were. */
size_t bit_runs_read(struct bit_runs *r, uint32_t *to, size_t want);
/* The same for levels, which are below 256. */
size_t bit_runs_levels(struct bit_runs *r, uint8_t *to, size_t want);
/* How many bits it takes to write numbers up to `most`. */
unsigned bit_width(unsigned most);

/* `width` bits, at most 64, from the bit `bit` on, least significant first; bits behind the end are 0. */
static inline uint64_t bits_at(const unsigned char *bytes, const unsigned char *end, uint64_t bit, unsigned width)
{
	const unsigned char *from = bytes + (bit >> 3);
	unsigned char last[9] = {0};
	uint64_t word;
	unsigned shift = bit & 7;
	if (end - from < 9) {
		if (end > from)
			memcpy(last, from, (size_t)(end - from));
		from = last;
	}
	memcpy(&word, from, 8);
	word = le64toh(word) >> shift;
	if (shift + width > 64)
		word |= (uint64_t)from[8] << (64 - shift);
	return width < 64 ? word & ((UINT64_C(1) << width) - 1) : word;
}

#endif
