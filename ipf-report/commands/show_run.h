/* From results to a report: reads a run, computes its figures, writes and delivers them. `ipf-report` and all of its
 * commands for one run end here, each with its own options.
 *
 *     return show_run(&options, &operands, program.name);
 */
#ifndef REPORT_SHOW_RUN_H
#define REPORT_SHOW_RUN_H

#include "commands/report_options.h"

/* Returns the exit status; a message is on standard error. `command` stands before messages about the usage. A report
 * whose input was cut, or rejected by --strict, is written in full before the status says so. */
int show_run(struct report_options *options, const struct operands *operands, const char *command);

/* Prints the error, with the name of the command if it is about the usage; returns the exit status. */
int command_end(const struct ipf_error *err, const char *command);

#endif
