/* Writes whole numbers in decimal, two digits at a time: for lines of which a program writes millions.
 *
 *     char room[DIGITS_MOST], *end = room + sizeof room, *at = digits_before(end, number);
 *     buffer_append(&line, at, (size_t)(end - at));
 */
#ifndef IPF_DIGITS_H
#define IPF_DIGITS_H

#include <stdint.h>

enum { DIGITS_MOST = 20 }; /* a number's, or a sign and 19 */

/* Writes the digits so that they end before `end`, and returns where they begin. */
static inline char *digits_before(char *end, uint64_t number)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
								"40414243444546474849505152535455565758596061626364656667686970717273747576777879"
								"8081828384858687888990919293949596979899";
	/* byte by byte: memcpy into a buffer whose size the compiler knows would be a call that checks it */
	for (; number >= 100; number /= 100) {
		const char *pair = pairs + 2 * (number % 100);
		*--end = pair[1];
		*--end = pair[0];
	}
	if (number >= 10)
		*--end = pairs[2 * number + 1];
	*--end = number >= 10 ? pairs[2 * number] : (char)('0' + number);
	return end;
}

#endif
