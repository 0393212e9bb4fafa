/* The gRPC part of an API descriptor, compiled: message definitions, and which of them are sent and received.
 */
#ifndef IPF_API_GRPC_H
#define IPF_API_GRPC_H

#include "api/descriptor_check.h"
#include "protobuf/protobuf.h"

/* Message types are indexed by "is the response streamed?"; -1: the API has no responses of that kind. */
struct api_grpc {
	struct protobuf_schema *protobuf; /* NULL: the API is not gRPC */
	int request[2], response[2];
};

/* Compiles the object "grpc" and checks the templates in `request` against the message types. */
int api_grpc_compile(struct descriptor_place at, json_t *json, json_t *request, struct api_grpc *grpc,
                     struct ipf_error *err);
/* The headers and trailers carrying the status; i = 0, 1, … until NULL. */
const char *api_grpc_header(size_t i);

#endif
