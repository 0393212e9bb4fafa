/* --twin: a run against a twin instead of a server, from its inputs to its last record. */
#ifndef IPF_TWIN_RUN_H
#define IPF_TWIN_RUN_H

#include "run/settings.h"

/* As fire_run. */
int twin_run(const struct fire_options *options, const char *schedule, json_t *argv);

#endif
