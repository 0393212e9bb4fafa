/* Schedules and traces the program generates for itself and reads like any other: held in memory, with a path valid
 * while the descriptor is open.
 */
#ifndef IPF_GENERATED_INPUT_H
#define IPF_GENERATED_INPUT_H

#include "stream/schedule.h"
#include "stream/trace.h"

struct generated_input {
	int fd; /* -1: none */
	char path[32];
};

/* A schedule of one stage: arrival i at at_ns[i], always of the trace's first request. */
int generated_input_schedule(struct generated_input *input, const struct schedule_stage *stage, const int64_t *at_ns,
                             struct ipf_error *err);
/* A trace of one request. */
int generated_input_trace(struct generated_input *input, const struct trace_request *request, struct ipf_error *err);
void generated_input_release(struct generated_input *input);

#endif
