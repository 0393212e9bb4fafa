/* Reads the results a command line names into a run.
 *
 *     struct run_data run = {.only_stage = options->stage};
 *     if (read_inputs(&run, &options, &operands, &bad, &err) < 0) …      // nothing can be reported
 *     … the report, then the error `bad`, if a stream was cut …
 *     run_data_release(&run);
 */
#ifndef REPORT_READ_INPUTS_H
#define REPORT_READ_INPUTS_H

#include "commands/report_options.h"

/* Reads all operands, or standard input if there are none, merges them and finds the steady windows. A stream cut or
 * has an error is kept up to there, and the next one is read; `bad` is the first such error. Members of `run` that are
 * set before reading are set by the caller. -1: nothing can be reported. */
int read_inputs(struct run_data *run, const struct report_options *options, const struct operands *operands,
                struct ipf_error *bad, struct ipf_error *err);

#endif
