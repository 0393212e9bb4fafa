/* A run observed in a capture, and a replay of its trace: the same requests at the same times, so both
 * sides of a comparison are compared block by block.
 *
 *     observed_replay_join((struct run_data *[]){&base, &new_runs}, &err);     // read, merged, not yet compared
 *     base.parts[0].capture_t0_ns == new_runs.parts[0].capture_t0_ns           // they belong together
 *
 * The header of the trace names the capture, by its t0. The replay must have the recorded times: each request not
 * waiting for others is due when it came in the capture, within REPLAY_TIMES_NS, from the first one on. It must have
 * sent the whole trace, each request once, and the trace must have nearly all requests of the capture.
 *
 * Requests of the observed run then get the numbers of those of the replay, and its window is the replay's, shifted:
 * arrivals of a trace count from its first request, times of a capture from its first packet.
 */
#ifndef COMPARE_OBSERVED_REPLAY_H
#define COMPARE_OBSERVED_REPLAY_H

#include "difference/figure_difference.h"
#include "results/run_data.h"

#define REPLAY_TIMES_NS    INT64_C(1000000)
#define REPLAY_SHARE_LEAST 0.95 /* share of the captured requests */

/* Sets capture_t0_ns of parts belonging together. -1: out of memory. */
int observed_replay_join(struct run_data *const runs[SIDES], struct ipf_error *err);

#endif
