/* Computes everything a report shows of a run.
 *
 *     struct built_report built;
 *     if (build_report(&built, &run, &options, &to, &err) == 0) … built.report …
 *     built_report_release(&built);                                  // in any case
 */
#ifndef REPORT_BUILD_REPORT_H
#define REPORT_BUILD_REPORT_H

#include "analysis/analyses.h"
#include "commands/report_options.h"
#include "figures/error_bars.h"
#include "json_report/report.h"
#include "other_tools/said.h"
#include "sections/sections.h"
#include "workload/trace_findings.h"

struct built_report {
	struct report report; /* refers to the members below, the run, and the options */
	struct run_figures figures;
	struct server_figures servers;
	struct analyses analyses;
	struct run_accuracy accuracy;
	struct trace_findings trace;
	struct said said;
	struct figure_options wanted;
	struct report_view view;
	struct text_style style;
};

/* `run` as read_inputs leaves it; `to` is where the report goes. -1: IPF_INPUT if the format cannot show this run,
 * IPF_SYSTEM, or IPF_USAGE for a trace. */
int build_report(struct built_report *built, const struct run_data *run, const struct report_options *options,
                 struct report_output *to, struct ipf_error *err);
void built_report_release(struct built_report *built);

/* --strict: IPF_INVALID if the run or one of its percentiles is not valid. */
void judge_strictly(const struct report *report, struct ipf_error *err);
/* The same for "verdict" and for "objectives" of the JSON report. */
void judge_answers_strictly(json_t *verdict, struct ipf_error *err);
void judge_loads_strictly(json_t *objectives, struct ipf_error *err);

#endif
