/* Reads the results of a run, and its trace, for `ipf-twin fit` and `ipf-twin why`.
 *
 *     struct measured_run m = {.lines = true};
 *     if (measured_run_read(&m, &options, &operands, &err) == 0) … m.run, measured_run_workload(&m), m.bad
 *     measured_run_release(&m);
 */
#ifndef TWIN_READ_RUN_H
#define TWIN_READ_RUN_H

#include "cli/options.h"
#include "imports/import.h"
#include "results/workload.h"

struct read_options {
	struct common_options common;
	const char *trace; /* NULL: not given */
	const char *stage; /* the only measured one; NULL */
	int from;          /* as of import_read */
};
#define READ_OPTIONS_DEFAULTS                                                                                          \
	{                                                                                                                  \
		.common = COMMON_DEFAULTS, .from = IMPORT_AUTOMATIC                                                            \
	}
#define READ_ROWS                                                                                                      \
	OPTION_HEADING("Input"),                                                                                           \
		OPTION(OPTION_FILE, 't', "trace", "TRACE", struct read_options, trace,                                         \
	           "trace of the run: tells which prompts begin alike, for a server with a prefix cache"),                 \
		OPTION(OPTION_TEXT, 0, "stage", "NAME", struct read_options, stage,                                            \
	           "measure this stage only, also if it is a warm-up"),                                                    \
		OPTION_CHOICE_OF(0, "from", "TOOL", struct read_options, from, importer_names,                                 \
	                     "the writer of RESULTS (default: recognised by the content); tools:" IMPORTER_CHOICES),       \
		OPTION_HEADING("Common options"), OUTPUT_OPTION(struct read_options, common),                                  \
		COMMAND_OPTIONS(struct read_options, common)

struct measured_run {
	bool lines; /* set before: keep the lines of the rows */
	struct slo slo;
	struct run_data run;
	struct workload workload;
	bool has_trace;
	struct ipf_error bad; /* the first stream cut or with an error: the valid part is used; IPF_OK */
};

/* -1: nothing can be used. Release it in any case. */
int measured_run_read(struct measured_run *m, const struct read_options *options, const struct operands *operands,
                      struct ipf_error *err);
/* NULL: no trace was given. */
const struct workload *measured_run_workload(const struct measured_run *m);
void measured_run_release(struct measured_run *m);

/* The parts of the run, as the basis of a model or an explanation: a new list. */
json_t *measured_run_parts(const struct measured_run *m);
/* Writes a JSON file beginning with "ipf": kind, "version" and "tool", and has these members, numbers with so many
 * digits. Takes `json` over. */
int write_document(const char *kind, json_t *json, int digits, const char *output, struct ipf_error *err);
/* Ends a command: its exit status, with the error told. */
int end_command(const struct program *program, const struct measured_run *m, struct ipf_error *err);

#endif
