/* The schedule's arrivals with the requests that they stand for, in lanes that are read each at a pace of its own: lane
 * 0 is the schedule as it stands, and each cycle stage (schedule.h) has one that goes round its arrivals until nobody
 * wants more. Reading is streaming; only the arrivals of cycle stages are held.
 */
#ifndef IPF_ARRIVAL_READER_H
#define IPF_ARRIVAL_READER_H

#include "job/deferred_request.h"
#include "stream/schedule.h"
#include "stream/trace.h"

struct arrival_reader;

struct planned {
	struct schedule_arrival arrival;
	struct trace_request request;
	struct slice context; /* messages of the session's earlier turns (session_append) */
};

/* Opens both and reads the trace once: it has to be the one that the schedule was made for (IPF_INPUT otherwise). With
 * `warm` requests before the schedule (warmup.h; 0: none), arrival_reader_schedule has their stage too, as the first.
 */
int arrival_reader_open(struct arrival_reader **plan, const char *schedule, const char *trace, int64_t warm,
                        struct ipf_error *err);
void arrival_reader_close(struct arrival_reader *p); /* NULL is fine */

const struct schedule *arrival_reader_schedule(const struct arrival_reader *p);
struct stream_reader *arrival_reader_stream(struct arrival_reader *p); /* the schedule's; borrowed */
json_t *arrival_reader_trace_header(const struct arrival_reader *p);   /* borrowed */
json_t *arrival_reader_from(
	struct arrival_reader *p); /* new: what was read of both, for the trailer; NULL: out of memory */
const struct ipf_error *arrival_reader_cut(
	const struct arrival_reader *p); /* IPF_CUT: some of the input is missing, as far as is known */

size_t arrival_reader_lanes(const struct arrival_reader *p);
int64_t arrival_reader_lane_stage(const struct arrival_reader *p, size_t lane); /* -1 for lane 0 */

/* The next one of the lane: 1 (good until the next call for this lane), 0 no more, 2 not yet (lane 0 has not come so
 * far), -1 error. After IPF_CUT, lane 0 gives 0: what was good is run, and arrival_reader_cut says so. */
int arrival_reader_next(struct arrival_reader *p, size_t lane, struct planned *to, struct ipf_error *err);
/* A copy of the request that the lane's last arrival_reader_next gave, to be rendered later. NULL: out of memory. */
struct deferred_request *arrival_reader_draft(const struct arrival_reader *p, size_t lane);

#endif
