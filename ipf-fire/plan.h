/* The schedule's arrivals with the requests that they stand for, in lanes that are read each at a pace of its own: lane 0 is the schedule
 * as it stands, and each cycle stage (schedule.h) has one that goes round its arrivals until nobody wants more. Reading is
 * streaming; only the arrivals of cycle stages are held.
 */
#ifndef IPF_PLAN_H
#define IPF_PLAN_H

#include "draft.h"
#include "schedule.h"
#include "trace.h"

struct plan;

struct planned {
	struct schedule_arrival arrival;
	struct trace_request request;
	struct slice context; /* messages of the session's earlier turns (session_append) */
};

/* Opens both and reads the trace once: it has to be the one that the schedule was made for (IPF_INPUT otherwise). With `warm` requests before
 * the schedule (warm.h; 0: none), plan_schedule has their stage too, as the first. */
int plan_open(struct plan **plan, const char *schedule, const char *trace, int64_t warm, struct ipf_error *err);
void plan_close(struct plan *p); /* NULL is fine */

const struct schedule *plan_schedule(const struct plan *p);
struct stream_reader *plan_stream(struct plan *p);  /* the schedule's; borrowed */
json_t *plan_trace_header(const struct plan *p);    /* borrowed */
json_t *plan_from(struct plan *p);                  /* new: what was read of both, for the trailer; NULL: out of memory */
const struct ipf_error *plan_cut(const struct plan *p); /* IPF_CUT: some of the input is missing, as far as is known */

size_t plan_lanes(const struct plan *p);
int64_t plan_lane_stage(const struct plan *p, size_t lane); /* -1 for lane 0 */

/* The next one of the lane: 1 (good until the next call for this lane), 0 no more, 2 not yet (lane 0 has not come so far), -1 error. After
 * IPF_CUT, lane 0 gives 0: what was good is run, and plan_cut says so. */
int plan_next(struct plan *p, size_t lane, struct planned *to, struct ipf_error *err);
/* A copy of the request that the lane's last plan_next gave, to be rendered later. NULL: out of memory. */
struct draft *plan_draft(const struct plan *p, size_t lane);

#endif
