/* Numbers of JSON as they are written, compared exactly: 0.1 is a tenth, and 1e400 is no infinity.
 *
 *     struct decimal a = decimal_of(slice_of("1.50")), b = decimal_of(slice_of("15e-1"));
 *     decimal_compare(&a, &b) == 0
 *
 * The literal must be one of JSON and must outlive the number.
 */
#ifndef JSON_SCHEMA_DECIMAL_H
#define JSON_SCHEMA_DECIMAL_H

#include "buffer.h"

#include <stdint.h>

/* ±0.d1d2d3… × 10^magnitude, where neither the first nor the last digit is 0. */
struct decimal {
	bool negative;
	size_t count; /* digits; 0: the number is 0 */
	int64_t magnitude;

	/* private */
	const char *first, *point; /* the digits'; the point among them, NULL: there is none */
};

struct decimal decimal_of(struct slice literal);
int decimal_compare(const struct decimal *a, const struct decimal *b); /* <0, 0, >0 */
bool decimal_is_integer(const struct decimal *d);
/* Saturates at UINT64_MAX; of an integer that is not negative. */
uint64_t decimal_count(const struct decimal *d);
/* The most digits of a divisor. */
#define DECIMAL_DIVISOR_DIGITS 18
/* Whether a / b is an integer. `b` is positive and has at most DECIMAL_DIVISOR_DIGITS digits. */
bool decimal_is_multiple(const struct decimal *a, const struct decimal *b);
/* Equal numbers have the same hash. */
uint64_t decimal_hash(const struct decimal *d, uint64_t seed);

#endif
