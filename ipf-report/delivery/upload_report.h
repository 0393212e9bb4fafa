/* --upload: sends the report, its plots and other files to a store of objects, one after another in this order.
 *
 *     struct upload_options options = {.url = "s3://runs/nightly/", .output = "report.html", .plots = "plots"};
 *     if (upload_report_check(&options, &err) < 0) …                 // before anything is read
 *     upload_report_send(&options, -1, &err);
 *
 * The report has the key of the URL, or, if that is a folder, the name of the output in it; plots are in a folder of
 * the name of theirs, and other files beside the report. The first failing ends it.
 */
#ifndef REPORT_UPLOAD_REPORT_H
#define REPORT_UPLOAD_REPORT_H

#include "cli/option_table.h"
#include "error.h"

struct upload_options {
	const char *url;          /* NULL: nothing is uploaded */
	struct string_list files; /* beside the report */
	const char *output;       /* --output; NULL and "-": standard output */
	const char *plots;        /* --plots; NULL */
	const char *program;      /* in messages on standard error */
	bool verbose, progress;
};

/* Whether the options, the environment and the files are right; IPF_USAGE, or IPF_SYSTEM: a file cannot be read. */
int upload_report_check(const struct upload_options *options, struct ipf_error *err);

/* `report`: a copy of standard output, which the caller closes; 0: it went to a file. -1: the error is of the failed
 * file; a list of the uploaded and the missing ones was printed before. */
int upload_report_send(const struct upload_options *options, int report, struct ipf_error *err);

#endif
