/* Schedules and traces that the program makes for itself and hands to itself like any other: in memory, behind a path that is good as long as
 * the descriptor is open.
 */
#ifndef IPF_MADE_H
#define IPF_MADE_H

#include "schedule.h"
#include "trace.h"

struct made {
	int fd;        /* -1: none */
	char path[32];
};

/* A schedule of one stage: its arrival i at at_ns[i], the trace's first request each time. */
int made_schedule(struct made *m, const struct schedule_stage *stage, const int64_t *at_ns, struct ipf_error *err);
/* A trace of one request. */
int made_trace(struct made *m, const struct trace_request *request, struct ipf_error *err);
void made_release(struct made *m);

#endif
