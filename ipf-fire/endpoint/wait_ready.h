/* Waits until a server is ready: --wait-ready. */
#ifndef IPF_WAIT_READY_H
#define IPF_WAIT_READY_H

#include "api/api.h"
#include "endpoint/endpoint.h"
#include "endpoint/network_path.h"

struct wait_ready_options {
	const struct api *api;
	const struct endpoint_options *endpoint_options; /* given at the opening of the endpoint */
	const struct network_path *network_path;
	enum http_version http;
	int64_t timeout_ns; /* how long to wait */
};

/* Requests the API's readiness paths (ipf-api(5)) repeatedly until all targets are ready. If the API names no path, a
 * target is ready when it accepts a connection. With gRPC a readiness path is a method that takes an empty message and
 * answers one in which field 1 is 1: SERVING, or true. `took_ns` is set to the time of this. -1: IPF_SYSTEM with the
 * last reason when the timeout has expired. */
int wait_until_ready(struct endpoint *e, const struct wait_ready_options *options, int64_t *took_ns,
                     struct ipf_error *err);

#endif
