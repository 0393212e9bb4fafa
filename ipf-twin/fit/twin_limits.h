/* The limits of a server: most tokens of a step, most sequences, size of the KV cache. A limit is seen where requests
 * wait at it; for one that no request waited at, only a lower bound is known.
 */
#ifndef TWIN_TWIN_LIMITS_H
#define TWIN_TWIN_LIMITS_H

#include "fit/twin_replay.h"
#include "fit/twin_steps.h"

#include "twin/twin.h"

/* Why a twin fitted to spans does not know something. */
#define NO_STEPS "single steps could not be told apart in these runs"

/* Sets TWIN_STEP_TOKENS from steps filled by a part of a prompt: the twin's lengths of steps are known. -1: out of
 * memory. */
int twin_limits_step_tokens(struct twin *twin, const struct twin_data *data, const struct twin_steps *steps);
/* Sets TWIN_SEQUENCES and TWIN_KV_BLOCKS, once all else is set: no limit, or the one of those the steps suggest
 * predicting the runs best; a limit is known if it does so clearly better than none. */
int twin_limits_try(struct twin *twin, struct twin_replay *replay, const struct twin_steps *steps,
                    struct ipf_error *err);
/* The length of a step by the twin, in ns. */
double twin_step_length(const struct twin *twin, double sequences, double context, double prompt);

#endif
