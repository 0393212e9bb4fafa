/* The integer of an absent value: one that is unknown, or of an event that did not happen. It is neither 0 nor -1, so
 * an absent value enters no sum and no mean. No integer of a stream has this value. The absent double is NAN. */
#ifndef IPF_ABSENT_H
#define IPF_ABSENT_H

#include "ipf/values.h" /* IPF_ABSENT, which libipf has too */

/* The greater one. The known value of a value and IPF_ABSENT, which is less than any value. */
static inline int64_t greater_of(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

#endif
