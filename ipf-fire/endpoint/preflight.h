/* A check before the run: can every target be reached? */
#ifndef IPF_PREFLIGHT_H
#define IPF_PREFLIGHT_H

#include "endpoint/endpoint.h"
#include "endpoint/network_path.h"

/* Looks up the names, tries one connection to each target (or to its proxy), and pins the address that accepted it in
 * target.resolve. `timeout_ns` is per connection attempt. -1: a lookup or a connection failed. */
int preflight_connect(struct endpoint *e, const struct network_path *network_path, int64_t timeout_ns,
                      struct ipf_error *err);

#endif
