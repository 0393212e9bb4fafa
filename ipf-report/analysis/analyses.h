/* Figures of a whole run, beyond those of its requests: all analyses of a report.
 *
 *     struct analyses analyses;
 *     analyses_build(&analyses, &input, &err);
 *     analyses_release(&analyses);
 */
#ifndef REPORT_ANALYSES_H
#define REPORT_ANALYSES_H

#include "analysis/answer_trends.h"
#include "analysis/autoscaling.h"
#include "analysis/cost.h"
#include "analysis/load_objectives.h"
#include "analysis/repeats.h"
#include "analysis/saturation.h"
#include "analysis/session_figures.h"
#include "figures/server_figures.h"

/* Those taking time. */
enum {
	ANALYSIS_SATURATION = 1,
	ANALYSIS_SESSIONS = 2,
	ANALYSIS_AUTOSCALING = 4,
	ANALYSIS_REPEATS = 8,
	ANALYSIS_ANSWERS = 16
};

/* An analysis not wanted is empty, as if the run had nothing for it. */
struct analyses {
	struct saturation saturation;
	struct load_objectives objectives; /* with the saturation */
	struct session_figures sessions;
	struct autoscaling autoscaling;
	struct cost cost;
	struct repeats repeats;
	struct answer_trends answers;
};

/* The sources and settings of the analyses. */
struct analysis_input {
	const struct run_data *run;
	const struct run_figures *figures;
	const struct server_figures *servers;
	const struct verdict_finding *finding;
	const struct figure_options *options;
	const struct price *price;
	unsigned wanted; /* bits of ANALYSIS_… */
};

/* Fails only when memory runs out. */
int analyses_build(struct analyses *a, const struct analysis_input *in, struct ipf_error *err);
void analyses_release(struct analyses *a);

#endif
