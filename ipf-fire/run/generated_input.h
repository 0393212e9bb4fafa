/* Schedules and traces that the program makes for itself and hands to itself like any other: in memory, behind a path
 * that is good as long as the descriptor is open.
 */
#ifndef IPF_GENERATED_INPUT_H
#define IPF_GENERATED_INPUT_H

#include "stream/schedule.h"
#include "stream/trace.h"

struct generated_input {
	int fd; /* -1: none */
	char path[32];
};

/* A schedule of one stage: its arrival i at at_ns[i], the trace's first request each time. */
int generated_input_schedule(struct generated_input *m, const struct schedule_stage *stage, const int64_t *at_ns,
                             struct ipf_error *err);
/* A trace of one request. */
int generated_input_trace(struct generated_input *m, const struct trace_request *request, struct ipf_error *err);
void generated_input_release(struct generated_input *m);

#endif
