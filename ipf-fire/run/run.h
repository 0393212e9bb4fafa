/* A run from its inputs to its last record. */
#ifndef IPF_RUN_H
#define IPF_RUN_H

#include "job/run_observer.h"
#include "run/settings.h"

/* `schedule`: a path; NULL or "-": standard input. Takes argv over, the arguments for the header. Returns the exit
 * status. */
int fire_run(const struct fire_options *options, const char *schedule, json_t *argv);

/* The same within another process, which the observer belongs to: no signal is caught, and errors are values. IPF_INPUT
 * and IPF_CUT: the records are whole, for a part of the input. */
int fire_run_observed(const struct fire_options *options, const char *schedule, json_t *argv,
                      const struct run_observer *observer, struct ipf_error *err);

#endif
