/* Empties the prefix cache of all targets, and finds out whether it worked.
 *
 *     json_t *proof = json_array();
 *     enum cache_outcome worst;
 *     if (cache_reset(client, targets, &worst, why, proof, &err) < 0) …
 *
 * For each target: a random prompt is sent twice, so its tokens are in the cache, by the usage of the second response
 * or by the server's counters. After the reset it is sent again, and must not be there. A server that is busy may
 * refuse, or answer 200 and do nothing: the reset is repeated for a few seconds. Nothing else may be in flight
 * meanwhile.
 */
#ifndef IPF_CACHE_RESET_H
#define IPF_CACHE_RESET_H

#include "aside/aside_client.h"

enum cache_outcome {
	CACHE_VERIFIED,   /* the prompt was in the cache, and is no longer */
	CACHE_UNVERIFIED, /* the server said it did, and shows no cached tokens either way */
	CACHE_REFUTED,    /* it said it did, and the prompt is still there */
	CACHE_FAILED,     /* it answered with an error */
	CACHE_MISSING,    /* it knows none of the API's requests for a reset */
	CACHE_OUTCOMES
};
extern const char *const cache_outcome_names[CACHE_OUTCOMES]; /* "verified", … */

/* Appends an object for each target to `proof` (ipf-records(5)). *worst: the worst outcome of all, of which `why` says
 * more. -1: interrupted, or out of memory. */
int cache_reset(struct aside_client *client, size_t targets, enum cache_outcome *worst, char why[ASIDE_WHY],
                json_t *proof, struct ipf_error *err);

#endif
