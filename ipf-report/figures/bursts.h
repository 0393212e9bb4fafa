/* Has a run seen the bursts of its load often enough? See load_episodes.h.
 *
 *     double episodes;
 *     bursts_seen(&episodes, &run, &err);
 *     if (episodes < LOAD_EPISODES_FEWEST) …         // no interval of one run says what the next one would show
 *
 * Stages whose rate changes as it was planned (a ramp, a sine, spikes, steps) count as steady, and so do closed loops.
 */
#ifndef REPORT_BURSTS_H
#define REPORT_BURSTS_H

#include "results/run_data.h"

/* The fewest of a measured stage, over all repeats of it; INFINITY: no load changes visibly. -1: out of memory. */
int bursts_seen(double *episodes, const struct run_data *run, struct ipf_error *err);

#endif
