/* The fate of each arrival: it is still with the dispatcher, it ended at a time, or it was dropped. Takes eight bytes
 * an arrival, since followers may be read long after their parents have ended.
 */
#ifndef IPF_ARRIVAL_ENDS_H
#define IPF_ARRIVAL_ENDS_H

#include "stream/schedule.h"

struct arrival_ends;
struct dispatch_node;

#define ARRIVAL_ENDS_UNKNOWN INT64_MIN       /* never added */
#define ARRIVAL_ENDS_NEVER   (INT64_MIN + 1) /* dropped */

/* `schedule` (the stages' first_n) is borrowed. NULL: out of memory. */
struct arrival_ends *arrival_ends_new(const struct schedule *schedule);
void arrival_ends_free(struct arrival_ends *e); /* NULL is fine */

/* Makes room for arrival n. -1: out of memory, or n is below the first stage's first_n. */
int arrival_ends_reserve(struct arrival_ends *e, int64_t n);
/* Both have no effect if there is no room for n. end_ns: 0 or above, or ARRIVAL_ENDS_NEVER. */
void arrival_ends_set_node(struct arrival_ends *e, int64_t n, struct dispatch_node *node);
void arrival_ends_set(struct arrival_ends *e, int64_t n, int64_t end_ns);
/* Sets *node if the arrival has not ended; the value then means nothing. Otherwise *node is NULL, and the value is a
 * time, ARRIVAL_ENDS_NEVER or ARRIVAL_ENDS_UNKNOWN. */
int64_t arrival_ends_get(const struct arrival_ends *e, int64_t n, struct dispatch_node **node);
/* Frees the entries of this stage's arrivals below n: no later arrival waits for them. */
void arrival_ends_forget(struct arrival_ends *e, int64_t below_n, size_t stage);

#endif
