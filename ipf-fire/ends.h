/* What became of each arrival: still with us, ended when, or never to be. Eight bytes an arrival: followers may be read
 * long after their parents have ended.
 */
#ifndef IPF_ENDS_H
#define IPF_ENDS_H

#include "schedule.h"

struct ends;
struct dispatch_node;

#define ENDS_UNKNOWN INT64_MIN       /* never heard of */
#define ENDS_NEVER   (INT64_MIN + 1) /* was dropped */

/* `plan` (the stages' first_n) is borrowed. NULL: out of memory. */
struct ends *ends_new(const struct schedule *plan);
void ends_free(struct ends *e);

/* Makes a place for arrival n. -1: out of memory, or an n before the first stage's. */
int ends_reserve(struct ends *e, int64_t n);
void ends_set_node(struct ends *e, int64_t n, struct dispatch_node *node);
/* A time ≥ 0, or ENDS_NEVER; without effect for an n whose place is gone. */
void ends_set(struct ends *e, int64_t n, int64_t end_ns);
/* *node where it is still with us (then the value says nothing), else NULL and the time, ENDS_NEVER or ENDS_UNKNOWN. */
int64_t ends_get(const struct ends *e, int64_t n, struct dispatch_node **node);
/* Nobody will ask for arrivals below n of this stage any more. */
void ends_forget(struct ends *e, int64_t below_n, size_t stage);

#endif
