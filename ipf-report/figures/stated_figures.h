/* Puts the figures that another tool states (results/stated.h) beside rows, if there are no rows to compute them from.
 *
 *     stated_percentiles(&options.percentiles, run.stated);       // unless the user chose some
 *     run_figures_build(&figures, &run, &options, &err);
 *     stated_figures_apply(&figures, run.stated, &options.percentiles);
 *     stated_figures_judge(&figures, &run, &err);
 */
#ifndef REPORT_STATED_FIGURES_H
#define REPORT_STATED_FIGURES_H

#include "figures/figures.h"

/* The percentiles stated anywhere, in place of the usual ones; unchanged if there are none. */
void stated_percentiles(struct percentiles *list, const struct stated *stated);
/* Only fills absent values. The total of several stages has their counts, and no distributions: percentiles do not add
 * up. */
void stated_figures_apply(struct run_figures *figures, const struct stated *stated, const struct percentiles *list);
/* Compares the objectives on percentiles with stated ones. The value of the total is the largest of the stages, which
 * no percentile of all of their requests exceeds. -1: IPF_INPUT, one is not stated. */
int stated_figures_judge(struct run_figures *figures, const struct run_data *run, struct ipf_error *err);

#endif
