/* Options of ipf-sim saying how its engine's steps go, parsed into the engine's own options (batching/batching.h). */
#ifndef SIM_ENGINE_OPTIONS_H
#define SIM_ENGINE_OPTIONS_H

#include "error.h"

/* Into a struct batching_pace: "2%/10s" or "-2%/10s"; "5s:3", three times as long for five seconds; "50ms/2s": pauses
 * of 50 ms, one in two seconds of steps, on average. */
int engine_parse_drift(const char *text, void *pace, struct ipf_error *err);
int engine_parse_warm_up(const char *text, void *pace, struct ipf_error *err);
int engine_parse_pause(const char *text, void *pace, struct ipf_error *err);
/* Into a struct batching_spec: "tokens=3,accept=0.7[,draft=TIME]". */
int engine_parse_spec(const char *text, void *spec, struct ipf_error *err);
/* Into a struct batching_tier: "BLOCKS[,rate=TOKENS/S]". */
int engine_parse_tier(const char *text, void *tier, struct ipf_error *err);

#endif
