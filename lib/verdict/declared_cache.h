/* Was the server's prefix cache in the state that ipf-fire --cache and cache=cold of stages declare? By the members
 * "cache", "cache_reset" and "cache_warm" of records (ipf-records(5)).
 *
 *     declared_cache_begin(v, header_of_records);             // each client's
 *     declared_cache_resets(v, trailer, &schedule);           // of the records, or their entry in a trailer's "from"
 */
#ifndef IPF_DECLARED_CACHE_H
#define IPF_DECLARED_CACHE_H

#include "verdict/verdict.h"

/* "cold", "warm" or "as-is", also if nothing is declared. */
const char *declared_cache_state(const json_t *header);
/* Adds notes: a reset that failed, or did nothing, makes the run INVALID; one that cannot be verified is a doubt. NULL
 * is fine. */
void declared_cache_begin(struct verdict *v, const json_t *header);
void declared_cache_resets(struct verdict *v, const json_t *trailer, const struct schedule *schedule);

#endif
