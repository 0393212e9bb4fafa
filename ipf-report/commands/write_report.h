/* Writes the report of build_report: in its format to its output, and its plots to a folder.
 *
 *     write_plots(&built.report, &options, &err);             // --plots; nothing without
 *     write_report(&built.report, &options, &err);            // to built.report.output, which the caller closes
 */
#ifndef REPORT_WRITE_REPORT_H
#define REPORT_WRITE_REPORT_H

#include "analysis/analyses.h"
#include "commands/report_options.h"
#include "formats/report_format.h"
#include "html/html_plots.h"

/* Writes the plots into the folder options->plots; NULL: writes none. Without gnuplot these are data and scripts, which
 * can be drawn elsewhere; a message says so. -1: IPF_SYSTEM. */
int write_plots(const struct report *report, const struct report_options *options, struct ipf_error *err);
/* Draws "plots" of a JSON report for a page, which has none without gnuplot: a message says so. -1: IPF_SYSTEM, or
 * IPF_INPUT for a foreign plot. */
int draw_page_plots(json_t *list, json_t *outliers, struct html_plots *plots, struct ipf_error *err);
/* Renders the report in the format of the options, with its plots if it is a page. A format of another tool shows the
 * run as that tool would have seen it. -1: IPF_SYSTEM, or IPF_CLOSED if the reader has gone. */
int write_report(struct report *report, const struct report_options *options, struct ipf_error *err);

#endif
