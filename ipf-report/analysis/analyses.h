/* What a whole run shows, beyond the figures of its requests: all analyses of a report.
 *
 *     struct analyses analyses;
 *     analyses_build(&analyses, &run, finding, &percentiles, &err);
 *     analyses_release(&analyses);
 */
#ifndef REPORT_ANALYSES_H
#define REPORT_ANALYSES_H

#include "analysis/saturation.h"
#include "analysis/session_figures.h"

struct analyses {
	struct saturation saturation;
	struct session_figures sessions;
};

/* Fails only when memory runs out. */
int analyses_build(struct analyses *a, const struct run_data *run, const struct verdict_finding *finding,
                   const struct percentiles *list, struct ipf_error *err);
void analyses_release(struct analyses *a);

#endif
