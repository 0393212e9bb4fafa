/* A run from its inputs to its last record. */
#ifndef IPF_RUN_H
#define IPF_RUN_H

#include "run/settings.h"

/* `schedule`: a path; NULL or "-": standard input. Takes argv over, the arguments for the header. Returns the exit
 * status. */
int fire_run(const struct fire_options *options, const char *schedule, json_t *argv);

#endif
