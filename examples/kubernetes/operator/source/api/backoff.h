/* How long to wait before something failing is tried again: twice as long each time, up to half a minute, and a part of
 * it by chance, so many clients of a server coming back do not come back together.
 *
 *     struct backoff b;
 *     backoff_init(&b, seed);
 *     retry_at_ns = clock_now() + backoff_next(&b);       // after a failure
 *     backoff_reset(&b);                                  // after a success
 */
#ifndef IPF_OPERATOR_BACKOFF_H
#define IPF_OPERATOR_BACKOFF_H

#include "stats/rng.h"

#include <stdint.h>

struct backoff {
	int failures; /* since the last success */
	struct rng rng;
};

void backoff_init(struct backoff *b, uint64_t seed);
/* Counts a failure. From 0.25 s … 0.5 s after the first one to 15 s … 30 s from the seventh on. */
int64_t backoff_next(struct backoff *b);
void backoff_reset(struct backoff *b);

#endif
