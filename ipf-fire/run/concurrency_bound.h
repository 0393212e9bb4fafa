/* How many requests a schedule is sure to have in flight at once, as far as that can be known before the run: from its
 * header, and from its arrivals where it is a file, which can be read once more.
 *
 * Sure is what no server however fast can change by answering: those that are due at the same time, and the users of a
 * closed loop that all begin together or never pause. What chance decides, as in a Poisson process, is never sure.
 */
#ifndef IPF_CONCURRENCY_BOUND_H
#define IPF_CONCURRENCY_BOUND_H

#include "stream/schedule.h"

/* What the arrivals of a stage are. */
struct concurrency_bound {
	int64_t heads;   /* those that wait for no other */
	int64_t at_once; /* most of them that are due at one and the same time */
	bool thinks;     /* some user waits before a request */
	bool known;      /* all of that was counted; false: only the header is known */
};

/* Reads the arrivals of the schedule at `path` (NULL or "-": standard input), which `s` is the header of, with stages
 * of `before` others in front. Those of a pipe, or of one that is broken, stay unknown. */
void crowds_count(struct concurrency_bound *crowds, const struct schedule *s, size_t before, const char *path);

/* Of stage i. `alone`: no request of the trace waits for another, so that all arrivals are heads. */
int64_t concurrency_bound_sure(const struct schedule *s, size_t i, const struct concurrency_bound *crowds, bool alone);
/* No more than that; IPF_ABSENT: nobody can say. */
int64_t concurrency_bound_most(const struct schedule *s, size_t i, const struct concurrency_bound *crowds);

/* Does no request of the trace wait for another? false also where it cannot be read. */
bool concurrency_bound_alone(const char *trace);

#endif
