/* Common to all unit tests: cmocka with its prerequisites, and a small generator for property tests. */
#ifndef IPF_TEST_UNIT_H
#define IPF_TEST_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
/* cmocka wants those first */
#include <cmocka.h>

/* The seed of a property test: IPF_TEST_SEED, else a fixed one; printed, so a failure can be run again. */
static inline uint64_t test_seed(const char *test)
{
	const char *given = getenv("IPF_TEST_SEED");
	uint64_t seed = given ? strtoull(given, NULL, 0) : UINT64_C(20240229);
	printf("# %s: IPF_TEST_SEED=%llu\n", test, (unsigned long long)seed);
	return seed;
}

/* splitmix64: independent of the generator under test */
static inline uint64_t test_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* How often a property is tried: `few` times, or with IPF_LONG `many` times (make check-long). */
static inline int few_or_many(int few, int many)
{
	return getenv("IPF_LONG") ? many : few;
}

#endif
