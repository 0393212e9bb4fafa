/* The error of the twin in the figures of a run it predicted (twin/predicted.h): half the width of an interval becomes
 * the root of own² + (error × value)², where the error is that of the twin at p50 for percentiles up to 90 and for
 * means, and the one at p99 above. An interval is not known where the error is not. The errors of TTFT, E2E, TPOT, and
 * of ITL, whose error is that of TPOT. Nothing changes in a measured run.
 */
#ifndef REPORT_MODEL_ERROR_H
#define REPORT_MODEL_ERROR_H

#include "figures/error_bars.h"

/* The 95 % intervals of means: of the stages, of the total and of the members of groupings. */
void model_error_of_means(struct run_figures *figures, const struct run_data *run);
/* The error bars of a stage or of the total. The client of a predicted run adds nothing where its rows say nothing. */
void model_error_of_bars(struct accuracy *accuracy, const struct figures *f, const struct run_data *run,
                         const struct percentiles *list);

#endif
