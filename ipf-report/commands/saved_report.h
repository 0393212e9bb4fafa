/* A saved JSON report: shown again in every format for people, as from its results.
 *
 *     json_t *report = NULL;
 *     int found = saved_report_read(&operands, &report, &err);        // 0: these are results
 *     if (found > 0) status = saved_report_show(report, path, &options, &err);
 */
#ifndef REPORT_SAVED_REPORT_H
#define REPORT_SAVED_REPORT_H

#include "commands/report_options.h"

/* 1: the only operand is a JSON report, which the caller releases; 0; -1: it is one, and cannot be read. */
int saved_report_read(const struct operands *operands, json_t **report, struct ipf_error *err);
/* Writes it; `path` is for messages. IPF_USAGE for a format needing results, or an option changing figures; IPF_INVALID
 * for --strict. */
int saved_report_show(json_t *report, const char *path, const struct report_options *options, struct ipf_error *err);

#endif
