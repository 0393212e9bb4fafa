/* Log-linear buckets: the arithmetic that histogram.h and ipf-fire's delay_histogram.h share.
 *
 * Every octave from 2^k to 2^(k+1) has 2^bits buckets of the same width, so the relative error is the same everywhere.
 * Values below 2^bits have a bucket each. With constant `bits` a call costs a few instructions.
 */
#ifndef IPF_LOG_LINEAR_H
#define IPF_LOG_LINEAR_H

#include <stdint.h>

/* How many buckets the values from 0 to INT64_MAX need. */
#define LOG_LINEAR_BUCKETS(bits) ((64 - (bits)) << (bits))

/* The bucket of a value; value >= 0. */
static inline int log_linear_bucket(int64_t value, int bits)
{
	if (value < INT64_C(1) << bits)
		return (int)value;
	int shift = 63 - __builtin_clzll((unsigned long long)value) - bits; /* 2^bits <= value >> shift < 2^(bits + 1) */
	return (shift << bits) + (int)(value >> shift);
}

/* The lowest value of a bucket. */
static inline int64_t log_linear_lowest(int bucket, int bits)
{
	if (bucket < 1 << bits)
		return bucket;
	int shift = (bucket >> bits) - 1;
	return (int64_t)(bucket - (shift << bits)) << shift;
}

#endif
