/* Reads the results a command line names into a run.
 *
 *     const struct import_options about = {.program = "ipf-report", .common = &options.common, .from = options.from};
 *     if (import_operands(&run, &about, &operands, &bad, &err) < 0) …  // nothing can be used
 */
#ifndef IPF_IMPORT_OPERANDS_H
#define IPF_IMPORT_OPERANDS_H

#include "cli/options.h"
#include "results/run_data.h"

struct import_options {
	const char *program; /* for messages */
	const struct common_options *common;
	int from; /* as of import_read */
};

/* Reads all operands, or standard input if there are none, each as a part of the run. A stream cut or has an error is
 * kept up to there, and the next one is read; `bad` is the first such error. -1: nothing can be used. */
int import_operands(struct run_data *run, const struct import_options *options, const struct operands *operands,
                    struct ipf_error *bad, struct ipf_error *err);

#endif
