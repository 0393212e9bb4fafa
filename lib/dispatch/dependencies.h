/* Which arrival waits for which: finds the parents of an added arrival, even if they have ended long ago, and notices
 * when an arrival comes near its start, so its body can be rendered ahead.
 *
 * An arrival with parents is near if all of them have started; one without is near if it is in flight. An arrival
 * waiting for near arrivals only is upcoming.
 */
#ifndef IPF_DEPENDENCIES_H
#define IPF_DEPENDENCIES_H

#include "dispatch/arrival_ends.h"
#include "dispatch/dispatch_node.h"
#include "error.h"
#include "stream/schedule.h"

struct dependencies {
	struct arrival_ends *ends;      /* the fate of each arrival */
	struct dispatch_node *upcoming; /* not handed out yet */
};

/* Links a new node to those of its parents that have not ended, and sets parents_end_ns by the others. *dropped: one
 * of them will never be started. -1: out of memory, or IPF_INPUT if a parent was never added. */
int dependencies_link(struct dependencies *d, struct dispatch_node *node, const struct schedule_arrival *arrival,
                      bool *dropped, struct ipf_error *err);
/* Undoes that, for a node that is not added after all. */
void dependencies_unlink(struct dependencies *d, const struct dispatch_node *node,
                         const struct schedule_arrival *arrival);
/* Hands the node out as upcoming if it waits for near arrivals only. */
void dependencies_added(struct dependencies *d, struct dispatch_node *node);
/* The node is in flight now: its followers have come nearer. */
void dependencies_started(struct dependencies *d, const struct dispatch_node *node);
/* The next upcoming node; NULL: none. */
struct dispatch_node *dependencies_upcoming(struct dependencies *d);

#endif
