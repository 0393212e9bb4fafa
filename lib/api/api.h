/* API descriptors: how to speak to a kind of model server, as data. ipf-api(5) describes the file.
 *
 *     struct api *api;
 *     if (api_open(&api, "openai-chat", &err) < 0) …
 *     api_path(api, true), api_request(api) …      // what ipf-fire sends
 *     response_parse(&response, &record, api, …)   // how ipf-collect understands what came back (response.h)
 *     api_close(api);
 *
 * The records' header carries the whole descriptor, so a run can be understood without the file. The descriptor's
 * halves have a module each: api_request.h checks the requests, api_response.h compiles how responses are read, and
 * api_grpc.h compiles gRPC's messages.
 */
#ifndef IPF_API_H
#define IPF_API_H

#include "api/api_request.h"
#include "api/api_response.h"
#include "api/api_cache_reset.h"
#include "error.h"

#include <jansson.h>

struct api;

/* Opens a descriptor: a built-in one by its name or an alias (upper and lower case are the same, and so are "_", "."
 * and
 * "-"), or a file if `name` contains a slash or ends in .json. A descriptor
 * with `"like": NAME` is merged into that built-in one by RFC 7396 (null removes a member); api_json gives the result.
 * -1: IPF_USAGE for an unknown name (the text says which one may be meant, or lists the known ones), IPF_INPUT for an
 * invalid descriptor (file, member, value), or a system error. */
int api_open(struct api **api, const char *name, struct ipf_error *err);
/* From JSON (its reference is shared, not taken over); `where` names it in errors. */
int api_from_json(struct api **api, json_t *descriptor, const char *where, struct ipf_error *err);
/* The same from a records header: to read responses, not to send requests. Members that this program does not know are
 * ignored, as a newer one may have written it. The built-in descriptor of this name adds pointers that an older one
 * lacked: to reasoning, tool calls, usage and errors. */
int api_from_records(struct api **api, json_t *descriptor, const char *where, struct ipf_error *err);
void api_close(struct api *api); /* NULL is fine */

const char *api_name(const struct api *api);
const char *api_method(const struct api *api);
/* The path for streamed or for whole responses, with an optional query. It may contain "$model". NULL: the API has no
 * responses of that kind. */
const char *api_path(const struct api *api, bool streamed);
/* Paths reporting readiness; the first the server knows decides. i = 0, 1, … until NULL. */
const char *api_ready_path(const struct api *api, size_t i);

/* The path listing the server's models, and where their names are in the response. NULL: the API has none. */
const char *api_models_path(const struct api *api);
const struct api_pointer *api_model_names(const struct api *api);

/* The requests that empty the server's prefix cache. */
const struct api_cache_resets *api_cache_resets(const struct api *api);

/* gRPC: the message definitions (NULL: not gRPC), and the types of the request and of each response message. */
struct protobuf_schema;
const struct protobuf_schema *api_protobuf(const struct api *api);
int api_request_type(const struct api *api, bool streamed);
int api_response_type(const struct api *api, bool streamed);

/* Response headers to keep in the records (lower case); i = 0, 1, … until NULL. */
const char *api_response_header(const struct api *api, size_t i);
/* Borrowed: the "request" object with headers, auth, body, stream, whole, exact_output, recorded_answers and params. */
json_t *api_request(const struct api *api);
/* Borrowed: the whole descriptor. */
json_t *api_json(const struct api *api);
/* The response half for streamed or for whole responses. NULL: the API has none of that kind (it has at least one). */
const struct api_response *api_response(const struct api *api, bool streamed);

/* The API's use of a prompt. */
enum api_kind {
	API_GENERATE,   /* answers it with text */
	API_EMBED,      /* a vector for each input */
	API_RANK,       /* a score of each input for a query */
	API_TRANSCRIBE, /* the text of a recording */
	API_SPEAK,      /* speech of a text */
	API_KINDS
};
extern const char *const api_kind_names[API_KINDS];
enum api_kind api_kind(const struct api *api);

/* The built-in descriptors: the name, and a line about it with the aliases (good until the next call). i = 0, 1, …
 * until NULL. */
const char *api_builtin(size_t i, const char **about);
const char *api_offer(size_t i); /* the names alone, for completion (cli/option_table.h) */

#endif
