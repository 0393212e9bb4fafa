/* Is it there? Asked before the run, of every place. */
#ifndef IPF_REACH_H
#define IPF_REACH_H

#include "route.h"
#include "target.h"

/* Looks the names up, tries one connection to each place (or to the proxy on the way to it), and pins the address that took it. -1 with one
 * line that says why not. */
int target_reach(struct target *t, const struct route *route, int64_t timeout_ns, struct ipf_error *err);

#endif
