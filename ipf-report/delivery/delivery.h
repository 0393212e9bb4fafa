/* Where a report goes besides its output: --push and --upload. It is delivered when the output is complete, so an error
 * here takes nothing away from the output.
 *
 *     struct delivery d = {.options = &options};
 *     if (delivery_check(&options, &err) < 0) …           // before anything is read
 *     delivery_prepare(&d, &report, &err);                // while there are figures
 *     delivery_send(&d, &output, &err);                   // when the output is closed
 *     delivery_release(&d);
 */
#ifndef REPORT_DELIVERY_H
#define REPORT_DELIVERY_H

#include "delivery/upload_report.h"
#include "formats/report_format.h"
#include "cli/report_output.h"
#include "push/push_target.h"

struct delivery_options {
	struct push_figures push;
	struct upload_options upload;
};

struct delivery {
	const struct delivery_options *options;
	char *run;                /* its name; NULL: it has none */
	struct buffer exposition; /* for --push */
	bool prepared;
};

/* Whether the options are right: IPF_USAGE, or IPF_SYSTEM for an unreadable file. */
int delivery_check(const struct delivery_options *options, struct ipf_error *err);
/* Renders the report in formats other than the output's. -1: out of memory. */
int delivery_prepare(struct delivery *d, const struct report *report, struct ipf_error *err);
/* Sends everything, also if some of it fails: the first failure is `err`, the others are printed on standard error.
 * Does nothing if nothing was prepared. `output`: closed; its copy of standard output is uploaded. */
int delivery_send(const struct delivery *d, const struct report_output *output, struct ipf_error *err);
void delivery_release(struct delivery *d);

/* The libraries' names and versions, for --version. */
const char *delivery_libraries(void);

#endif
