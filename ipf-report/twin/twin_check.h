/* Is a twin true? Before it is fitted, whether the run can be used at all; after it, whether the runs are of one
 * server, and how far from them it is: the requests of each run are sent to the twin at the times at which they were
 * sent, and the percentiles of what it answers are held against what was measured.
 */
#ifndef REPORT_TWIN_CHECK_H
#define REPORT_TWIN_CHECK_H

#include "twin/twin_steps.h"

#include "twin/twin.h"

/* -1: IPF_INPUT: the run is INVALID, or its parts name different models. */
int twin_check_run(const struct run_data *run, const struct verdict_finding *finding, struct ipf_error *err);
/* -1: IPF_INPUT: steps of one run or server take longer than those of another. */
int twin_check_servers(const struct twin *twin, const struct twin_steps *steps, struct ipf_error *err);
/* Sets TWIN_SEQUENCES and TWIN_KV_BLOCKS: of no limit and those that `steps` suggest, what predicts the runs best; a
 * limit is known if it does so clearly better than none. Then TWIN_OVERHEAD if it is not known, and the errors of the
 * twin. -1: IPF_INPUT: they are so great that it describes another kind of server. */
int twin_check_errors(struct twin *twin, const struct twin_data *data, const struct twin_steps *steps,
                      struct ipf_error *err);

#endif
