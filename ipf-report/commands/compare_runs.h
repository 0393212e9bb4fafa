/* Compares the results of two sides: `ipf-report compare BASE… -- NEW…`.
 *
 *     const struct compare_wanted wanted = {.format = "text", .command = program.name};
 *     return compare_runs(&options, &operands, &wanted);
 */
#ifndef REPORT_COMPARE_RUNS_H
#define REPORT_COMPARE_RUNS_H

#include "commands/report_options.h"

struct compare_wanted {
	const char *format;  /* one of compare_format_names */
	const char *command; /* before messages about the usage */
};

/* Returns the exit status; a message is on standard error. 4, with the comparison complete, if a side is not valid or a
 * condition of --fail-if is met. */
int compare_runs(const struct report_options *options, const struct operands *operands,
                 const struct compare_wanted *wanted);

#endif
