/* Reads the schedule's arrivals with their requests of the trace, in lanes read independently: lane 0 is the schedule
 * in its order, and each cycle stage (schedule.h) has a lane repeating its arrivals without end. Reading is streaming;
 * only the arrivals of cycle stages are held.
 */
#ifndef IPF_ARRIVAL_READER_H
#define IPF_ARRIVAL_READER_H

#include "requests/deferred_request.h"
#include "stream/schedule.h"
#include "stream/trace.h"

struct arrival_reader;

/* An arrival and its request. */
struct arrival_request {
	struct schedule_arrival arrival;
	struct trace_request request;
	struct slice context; /* messages of the session's earlier turns (prompt_append_turn) */
};

/* Opens both (trace NULL: the file the schedule's header names), and reads the trace once to check the schedule was
 * made for it (IPF_INPUT if not). With `warm` requests before the schedule (warmup.h; 0: none), arrival_reader_schedule
 * has their stage as its first. */
int arrival_reader_open(struct arrival_reader **reader, const char *schedule, const char *trace, int64_t warm,
                        struct ipf_error *err);
void arrival_reader_close(struct arrival_reader *r); /* NULL is fine */

/* From lane 0, returns only the `wanted` arrivals, `count` of them. Before the first is read. */
void arrival_reader_only(struct arrival_reader *r, bool (*wanted)(const void *data, int64_t n), const void *data,
                         int64_t count);
const struct schedule *arrival_reader_schedule(const struct arrival_reader *r);
/* Its requests, but for those of cycle stages, of which it does not say how many there will be. */
int64_t arrival_reader_planned(const struct arrival_reader *r);
const char *arrival_reader_trace(const struct arrival_reader *r);      /* its file; borrowed */
struct stream_reader *arrival_reader_stream(struct arrival_reader *r); /* the schedule's; borrowed */
json_t *arrival_reader_trace_header(const struct arrival_reader *r);   /* borrowed */
/* The numbers read of both, for the trailer. New; NULL: out of memory. */
json_t *arrival_reader_from(struct arrival_reader *r);
/* IPF_CUT: some of the input is missing, as far as is known so far. */
const struct ipf_error *arrival_reader_cut(const struct arrival_reader *r);

size_t arrival_reader_lanes(const struct arrival_reader *r);
int64_t arrival_reader_lane_stage(const struct arrival_reader *r, size_t lane); /* -1 for lane 0 */

/* The next one of the lane: 1 (valid until the next call for this lane); 0: no more; 2: not yet, lane 0 must be read
 * further; -1: error. At a cut, lane 0 ends with 0: the arrivals before the cut are run, and arrival_reader_cut reports
 * it. */
int arrival_reader_next(struct arrival_reader *r, size_t lane, struct arrival_request *to, struct ipf_error *err);
/* A copy of the request the last arrival_reader_next for the lane returned, to be rendered later. NULL: out of
 * memory. */
struct deferred_request *arrival_reader_defer(const struct arrival_reader *r, size_t lane);

#endif
