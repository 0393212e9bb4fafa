/* Is a twin true? Before it is fitted, whether the run can be used at all; after it, whether the runs are of one
 * server, and how far from them it is: the requests of each run are sent to the twin at the times at which they were
 * sent, and the percentiles of what it answers are held against what was measured.
 */
#ifndef TWIN_TWIN_CHECK_H
#define TWIN_TWIN_CHECK_H

#include "fit/twin_steps.h"

#include "twin/twin.h"

/* -1: IPF_INPUT: the run is INVALID, or its parts name different models. */
int twin_check_run(const struct run_data *run, const struct verdict_finding *finding, struct ipf_error *err);
/* -1: IPF_INPUT: what one run or server computes takes longer than at another. */
int twin_check_servers(const struct twin *twin, const struct twin_data *data, const struct twin_steps *steps,
                       struct ipf_error *err);
/* Sets TWIN_SEQUENCES and TWIN_KV_BLOCKS: of no limit and those that the steps or spans suggest, what predicts the runs
 * best; a limit is known if it does so clearly better than none. By spans also TWIN_JITTER, and TWIN_OVERHEAD if it is
 * not known; then the errors of the twin, and its distance from the stages of the runs, or from all
 * together where none has enough requests (twin_replay.h). -1: out of memory. */
int twin_check_errors(struct twin *twin, const struct twin_data *data, const struct twin_steps *steps, double *distance,
                      struct ipf_error *err);
/* -1: IPF_INPUT: its errors are so great, at half of the loads of the runs, that it describes another kind of server.
 */
int twin_check_kind(const struct twin *twin, struct ipf_error *err);

#endif
