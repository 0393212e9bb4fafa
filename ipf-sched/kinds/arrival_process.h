/* Begins and ends the arrivals of a stage. In between, the stage's kind gives them: stage_kind.h. */
#ifndef IPF_ARRIVAL_PROCESS_H
#define IPF_ARRIVAL_PROCESS_H

#include "kinds/stage_kind.h"

/* The same kind, ordinal, keys and seed give the same arrivals. */
int arrival_process_begin(struct arrival_process *p, const struct stage *stage, const struct trace_index *trace,
                          uint64_t seed, struct ipf_error *err);
void arrival_process_end(struct arrival_process *p);

/* Rounds a time in ns to the nearest integer, at most ARRIVAL_LIMIT. For kinds. */
int64_t arrival_round(double ns);

#endif
