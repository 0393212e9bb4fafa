/* Figures as AIPerf and its predecessor genai-perf write them: a member for each metric, which is an object with
 * "unit", "avg", "p50", … Both use the same tags; genai-perf has fewer.
 *
 *     struct stated_stage figures;
 *     if (tagged_figures_read(&figures, in, read_other, err) < 0) …    // read_other: members that are no metric
 *     return tagged_figures_put(&figures, in, err);
 *
 * Times become milliseconds, those of values seconds, by the "unit" of the metric.
 */
#ifndef IPF_TAGGED_FIGURES_H
#define IPF_TAGGED_FIGURES_H

#include "imports/import.h"

/* Reads the value of a member that is no known metric, or skips it. -1: an error. */
typedef int (*tagged_other)(struct import *in, struct slice key, struct ipf_error *err);

/* Reads the whole document. `other` NULL: other members are skipped. */
int tagged_figures_read(struct stated_stage *figures, struct import *in, tagged_other other, struct ipf_error *err);
/* Makes them the only stage of the file. */
int tagged_figures_put(const struct stated_stage *figures, struct import *in, struct ipf_error *err);
/* Milliseconds of a time in this unit; 1 for other units. */
double tagged_unit_ms(const struct jdoc *doc, jdoc_id unit);

#endif
