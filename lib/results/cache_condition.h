/* The declared state of the server's prefix cache in a run, as text for people and for comparisons.
 *
 *     json_t *text = cache_condition_text(&run);       // "cold", "as-is", "cold, and again cold before 3 later
 * stages", "cold or as-is"
 */
#ifndef IPF_CACHE_CONDITION_H
#define IPF_CACHE_CONDITION_H

#include "results/run_data.h"

/* A new string; NULL: out of memory. "as-is" if nothing is declared. */
json_t *cache_condition_text(const struct run_data *run);
/* The run's parts declare several states. */
bool cache_condition_mixed(const struct run_data *run);

#endif
