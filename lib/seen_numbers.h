/* Which numbers of a range from 0 on were seen: a bit each.
 *
 *     struct seen_numbers seen = {0};
 *     if (seen_numbers_add(&seen, request->req)) …      // it was seen before
 *     seen_numbers_release(&seen);
 */
#ifndef IPF_SEEN_NUMBERS_H
#define IPF_SEEN_NUMBERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Larger numbers count as new each time, so no input makes a set grow beyond 256 MiB. */
#define SEEN_NUMBERS_MOST (INT64_C(1) << 31)

/* Zero-initialise. */
struct seen_numbers {
	uint64_t *bits;
	size_t words;
	bool failed; /* out of memory: later additions are missing */
};

/* Adds a number of 0 or more. True: it was there. */
bool seen_numbers_add(struct seen_numbers *seen, int64_t number);
bool seen_numbers_has(const struct seen_numbers *seen, int64_t number);
/* Makes *to, which is released, a copy of *from. */
void seen_numbers_copy(struct seen_numbers *to, const struct seen_numbers *from);
void seen_numbers_release(struct seen_numbers *seen);

#endif
