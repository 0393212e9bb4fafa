/* Reads the output of `ipf-twin why`, which --why names. */
#ifndef REPORT_READ_WHY_H
#define REPORT_READ_WHY_H

#include "results/run_data.h"

/* The block "why" of ipf-report-json(5), new. `path`: "-": standard input. -1: IPF_INPUT if it is no such file, or one
 * of another run. */
int read_why(json_t **why, const char *path, const struct run_data *run, struct ipf_error *err);

#endif
