/* Sorts many numbers: by their digits (least significant first), in a tenth of the time that comparisons take; and at
 * once if they are in order.
 *
 *     sort_doubles(values, count);
 *     sort_integers(times_ns, count);
 *
 * Ascending. Doubles may be infinite, not NAN; -0.0 comes before 0.0.
 */
#ifndef IPF_SORT_NUMBERS_H
#define IPF_SORT_NUMBERS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

void sort_doubles(double *values, size_t count);
void sort_integers(int64_t *values, size_t count);

/* Integers in the order of the numbers: those of negative numbers come first, and the largest of them last. */
static inline uint64_t sort_key_of_double(double value)
{
	const uint64_t sign = UINT64_C(1) << 63;
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits & sign ? ~bits : bits | sign;
}

#endif
