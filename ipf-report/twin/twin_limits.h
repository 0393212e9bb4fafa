/* The limits of a server: most tokens of a step, most sequences, size of the KV cache. A limit is seen where requests
 * wait at it; one that no request waited at is not known, only that it is at least what was seen.
 */
#ifndef REPORT_TWIN_LIMITS_H
#define REPORT_TWIN_LIMITS_H

#include "twin/twin_steps.h"

#include "twin/twin.h"

/* Sets TWIN_STEP_TOKENS from steps that were filled by a part of a prompt: the twin's lengths of steps are known.
 * -1: out of memory. */
int twin_limits_step_tokens(struct twin *twin, const struct twin_data *data, const struct twin_steps *steps);
/* What the limits of sequences and of blocks may be. twin_check.h tries which of them the run had. */
struct twin_limit_candidates {
	int64_t blocked; /* steps beside which requests waited for more than a step */
	double sequences[3];
	double blocks;         /* the most that were in use */
	double seen_sequences; /* the most that got tokens in a step */
};

/* Once TWIN_STEP_TOKENS is set. -1: out of memory. */
int twin_limits_find(const struct twin *twin, const struct twin_data *data, const struct twin_steps *steps,
                     struct twin_limit_candidates *found);
/* Says of both limits that they are not known. */
void twin_limits_unknown(struct twin *twin, const struct twin_limit_candidates *found);
/* The length of a step by the twin, in ns. */
double twin_step_length(const struct twin *twin, double sequences, double context, double prompt);

#endif
