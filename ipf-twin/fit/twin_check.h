/* Is a twin true? Checks a run before the fit: can it be used? And after it: are the runs of one server, and how far is
 * the twin from it? The requests of each run are sent to the twin at their recorded times, and the percentiles of its
 * answers are compared with the measured ones.
 */
#ifndef TWIN_TWIN_CHECK_H
#define TWIN_TWIN_CHECK_H

#include "fit/twin_steps.h"

#include "twin/twin.h"

/* -1: IPF_INPUT: the run is INVALID, or its parts name different models. */
int twin_check_run(const struct run_data *run, const struct verdict_finding *finding, struct ipf_error *err);
/* -1: IPF_INPUT: one run or server needs more time than another for the same work. */
int twin_check_servers(const struct twin *twin, const struct twin_data *data, const struct twin_steps *steps,
                       struct ipf_error *err);
/* Sets TWIN_SEQUENCES and TWIN_KV_BLOCKS: no limit, or the one of those the steps or spans suggest predicting the runs
 * best; a limit is known if it does so clearly better than none. By spans also TWIN_JITTER, and TWIN_OVERHEAD if it is
 * not known; then the errors of the twin, and its distance from the stages of the runs, or from all together where none
 * has enough requests (twin_replay.h). -1: out of memory. */
int twin_check_errors(struct twin *twin, const struct twin_data *data, const struct twin_steps *steps, double *distance,
                      struct ipf_error *err);
/* -1: IPF_INPUT: its errors are so great, at half of the loads of the runs, that it describes another kind of server.
 */
int twin_check_kind(const struct twin *twin, struct ipf_error *err);

#endif
