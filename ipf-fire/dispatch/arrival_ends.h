/* What became of each arrival: still with us, ended when, or never to be. Eight bytes an arrival: followers may be read
 * long after their parents have ended.
 */
#ifndef IPF_ARRIVAL_ENDS_H
#define IPF_ARRIVAL_ENDS_H

#include "stream/schedule.h"

struct arrival_ends;
struct dispatch_node;

#define ARRIVAL_ENDS_UNKNOWN INT64_MIN       /* never heard of */
#define ARRIVAL_ENDS_NEVER   (INT64_MIN + 1) /* was dropped */

/* `plan` (the stages' first_n) is borrowed. NULL: out of memory. */
struct arrival_ends *arrival_ends_new(const struct schedule *plan);
void arrival_ends_free(struct arrival_ends *e);

/* Makes a place for arrival n. -1: out of memory, or an n before the first stage's. */
int arrival_ends_reserve(struct arrival_ends *e, int64_t n);
void arrival_ends_set_node(struct arrival_ends *e, int64_t n, struct dispatch_node *node);
/* A time ≥ 0, or ARRIVAL_ENDS_NEVER; without effect for an n whose place is gone. */
void arrival_ends_set(struct arrival_ends *e, int64_t n, int64_t end_ns);
/* *node where it is still with us (then the value says nothing), else NULL and the time, ARRIVAL_ENDS_NEVER or
 * ARRIVAL_ENDS_UNKNOWN. */
int64_t arrival_ends_get(const struct arrival_ends *e, int64_t n, struct dispatch_node **node);
/* Nobody will ask for arrivals below n of this stage any more. */
void arrival_ends_forget(struct arrival_ends *e, int64_t below_n, size_t stage);

#endif
