/* Speculative decoding, as it shows in the answers: a step decoding gives a token, and then those of its drafts up to
 * the first that is refused. With K drafts, each accepted with probability a, j < K of them are with a^j (1 - a), all
 * with a^K (Leviathan, Kalman, Matias: Fast Inference from Transformers via Speculative Decoding, 2023, section 3.1).
 */
#ifndef TWIN_TWIN_DRAFTS_H
#define TWIN_TWIN_DRAFTS_H

#include "fit/twin_data.h"

#include "twin/twin.h"

/* Sets TWIN_DRAFT_TOKENS and TWIN_DRAFT_ACCEPTED: by the tokens of each event where they are known; else so that mean
 * and variance of the tokens of a step are as the numbers of tokens and events of the requests say. */
void twin_drafts_fit(struct twin *twin, const struct twin_data *data);

#endif
