/* Is it there? Asked before the run, of every target. */
#ifndef IPF_PREFLIGHT_H
#define IPF_PREFLIGHT_H

#include "endpoint/network_path.h"
#include "endpoint/endpoint.h"

/* Looks the names up, tries one connection to each target (or to the proxy on the way to it), and pins the address that
 * took it. -1 with one line that says why not. */
int preflight_connect(struct endpoint *t, const struct network_path *network_path, int64_t timeout_ns,
                      struct ipf_error *err);

#endif
