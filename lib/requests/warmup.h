/* --warm: requests before the schedule, one after another, so the server and its connections are warm when the schedule
 * begins.
 *
 * They are an unmeasured stage in front of the schedule's, which ends with the last of them: the schedule's time stands
 * still until then. With --start-at, the schedule begins at the given time, and the warm-up comes before that, at
 * negative times.
 *
 * The requests are the first of the trace standing alone or begin a session (without its later turns), repeated if
 * there are too few. Their n are far above those of any schedule, and differ between shards, so an arrival has the same
 * n with and without them.
 */
#ifndef IPF_WARMUP_H
#define IPF_WARMUP_H

#include "stream/schedule.h"
#include "stream/trace.h"

#define WARMUP_MOST (INT64_C(1) << 20) /* requests */

struct warmup;

/* `count` requests, 1 to WARMUP_MOST, before `schedule`, which is borrowed and must outlive it. */
int warmup_open(struct warmup **warmup, const struct schedule *schedule, const char *trace, int64_t count,
                struct ipf_error *err);
void warmup_close(struct warmup *w); /* NULL is fine */

/* The schedule with the warm-up stage in front: the index of each other stage is one higher. Borrowed. */
const struct schedule *warmup_schedule(const struct warmup *w);

/* The next one: 1 (the request is valid until the next call), 0 no more, -1 error: no request of the trace can be sent
 * alone. */
int warmup_next(struct warmup *w, struct schedule_arrival *arrival, struct trace_request *request,
                struct ipf_error *err);

#endif
