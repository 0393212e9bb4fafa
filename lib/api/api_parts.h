/* What the parts of the descriptor's reader share: api.c the whole, api_request.c and api_response.c the halves.
 * Private to lib/. */
#ifndef IPF_API_PARTS_H
#define IPF_API_PARTS_H

#include "api/api.h"
#include "protobuf/protobuf.h"

/* Where we are in the descriptor, for messages: file and the dotted path of the member. */
struct api_place {
	const char *file;
	const char *inside; /* "response" or NULL */
};

/* -1 with `inside.member: expected <wanted>, got <got>`. */
int api_wrong(struct api_place at, const char *member, struct ipf_error *err, const char *wanted, json_t *got);
/* -1 where the map has a member that is not among the known (ends in NULL). */
int api_only_members(struct api_place at, json_t *map, const char *const *known, struct ipf_error *err);
/* A text that has to be there (or may be missing, where `optional`). */
int api_check_text(struct api_place at, json_t *map, const char *key, bool optional, struct ipf_error *err);
/* A path with a slash at its beginning, in which "$" may only begin $model. */
int api_check_path(struct api_place at, const char *member, json_t *path, struct ipf_error *err);

int api_check_request(struct api_place at, json_t *request, struct ipf_error *err);

int api_response_compile(struct api_place at, json_t *json, struct api_response *response, struct ipf_error *err);
void api_response_release(struct api_response *response);

/* The messages of gRPC. Types are by "is the answer streamed"; -1: there are no such answers. */
struct api_grpc {
	struct protobuf_schema *protobuf; /* NULL: this is no gRPC */
	int request[2], response[2];
};
int api_grpc_compile(struct api_place at, json_t *json, json_t *request, struct api_grpc *grpc, struct ipf_error *err);
/* The headers and trailers that say how it ended; i = 0, 1, … until NULL. */
const char *api_grpc_header(size_t i);

#endif
