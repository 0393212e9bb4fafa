/* One run from its inputs to the trailer of its records. */
#ifndef IPF_RUN_H
#define IPF_RUN_H

#include "run/settings.h"

/* `argv` is what the header says of the command line; taken over. What was wrong is said on standard error; returns the
 * exit status. */
int fire_run(const struct fire_options *options, const char *schedule, json_t *argv);

#endif
