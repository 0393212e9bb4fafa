/* Waiting for a server that is not ready yet: --wait-ready. */
#ifndef IPF_WAIT_READY_H
#define IPF_WAIT_READY_H

#include "api/api.h"
#include "endpoint/network_path.h"
#include "run/settings.h"
#include "endpoint/endpoint.h"

/* For gRPC a route is a method that takes an empty message and answers one in which field 1 is 1: SERVING, or true.
 *
 * Asks the API's readiness routes (ipf-api(5)) again and again until one says yes; where it names none, until a
 * connection is taken. -1: IPF_SYSTEM with what was wrong last, when options->wait_ready_ns have passed. */
int wait_ready_wait(const struct fire_options *options, const struct api *api, struct endpoint *endpoint,
                    const struct network_path *network_path, const struct endpoint_options *at, struct ipf_error *err);

#endif
