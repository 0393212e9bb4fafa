/* --warm: requests that go before the schedule, one after another, so that the server and the way there are warm when
 * it begins. They are an unmeasured stage of their own, put before the schedule's, and bounded by its count: the
 * schedule's time stands still until the last of them has ended; or it begins at a time that is given (start_time.h),
 * and they go before that, at negative times.
 *
 * They are the trace's first requests that stand alone or begin a session (of which no more comes), and the same again
 * where there are too few. Their n are far above those of any schedule, and others in each shard, so that an arrival
 * keeps its n with and without them.
 */
#ifndef IPF_WARMUP_H
#define IPF_WARMUP_H

#include "stream/schedule.h"
#include "stream/trace.h"

#include <stdbool.h>

#define WARMUP_MOST (INT64_C(1) << 20) /* requests */
/* Schedules count from 0 and leave 2^32 for a stage that goes round; readers that know only doubles are exact up to
 * 2^53. */
#define WARMUP_FIRST_N (INT64_C(1) << 52)

struct warmup;

/* `count` of them, 1 to WARMUP_MOST, before `schedule`, which is borrowed and has to outlive it. */
int warmup_open(struct warmup **warm, const struct schedule *schedule, const char *trace, int64_t count,
                struct ipf_error *err);
void warmup_close(struct warmup *w); /* NULL is fine */

/* The schedule with their stage before its own: the number of each of those is one more. Borrowed. */
const struct schedule *warmup_schedule(const struct warmup *w);

/* Is it one of these? */
static inline bool warmup_is(const struct schedule_arrival *arrival)
{
	return arrival->n >= WARMUP_FIRST_N;
}

/* The next one: 1 (the request is good until the next call), 0 no more, -1 error: the trace has none that can go by
 * itself. */
int warmup_next(struct warmup *w, struct schedule_arrival *arrival, struct trace_request *request,
                struct ipf_error *err);

#endif
