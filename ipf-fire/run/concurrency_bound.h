/* How many requests a schedule is certain to have in flight at once, as far as known before the run: from its header,
 * and, if it is a file, from its arrivals, which can be read one more time.
 *
 * Certain means whatever the speed of the server: the requests due at the same time, and the users of a closed loop
 * without pauses or starting together. Random arrivals, as in a Poisson process, are never certain.
 */
#ifndef IPF_CONCURRENCY_BOUND_H
#define IPF_CONCURRENCY_BOUND_H

#include "stream/schedule.h"

/* The arrivals of a stage. */
struct concurrency_bound {
	int64_t roots;   /* arrivals waiting for no other */
	int64_t at_once; /* the most of them due at the same time */
	bool pauses;     /* some user waits before a request */
	bool known;      /* the arrivals were read; false: only the header is known */
};

/* Fills `bounds`, one for each stage of `s`, from the schedule at `path` (NULL or "-": standard input), whose stages
 * are those of `s` without the first `before`. The bounds of a schedule from a pipe, or of a broken one, stay unknown.
 */
void concurrency_bound_count(struct concurrency_bound *bounds, const struct schedule *s, size_t before,
                             const char *path);

/* The least that stage i has in flight at once. `independent`: no request of the trace waits for another, so all
 * arrivals are roots. */
int64_t concurrency_bound_least(const struct schedule *s, size_t i, const struct concurrency_bound *bounds,
                                bool independent);
/* The most; IPF_ABSENT: unknown. */
int64_t concurrency_bound_most(const struct schedule *s, size_t i, const struct concurrency_bound *bounds);

/* Does no request of the trace wait for another? false also if it cannot be read. */
bool concurrency_bound_independent(const char *trace);

#endif
