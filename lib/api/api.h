/* API descriptors: how a model server is spoken to, as data. See ipf-api(5) for the file.
 *
 * ipf-fire uses the request half (api_request gives the template), ipf-collect the response half (compiled here into
 * pointers and an end mark). The records' header carries the whole descriptor, so that a run can be understood without
 * the file.
 */
#ifndef IPF_API_H
#define IPF_API_H

#include "error.h"
#include "json/jdoc.h"

#include <jansson.h>

/* A JSON Pointer (RFC 6901) in which `*` stands for every element of a list, and `*[member=value]` (or `!=`) for those
 * elements whose member is (is not) that. It may carry a condition: then it leads only to nodes that equal a given
 * value. */
struct api_pointer;

/* From "/choices/0/text", {"at": "/object", "is": "error"} (`is`: a text, an integer, true or false) or {"at":
 * "/delta", "where":
 * {"at": "/type", "is": "text"}} (only in documents where the second leads somewhere); IPF_INPUT otherwise, with what
 * was expected in err (no place). "" is the whole document. */
int api_pointer_new(struct api_pointer **pointer, json_t *value, struct ipf_error *err);
void api_pointer_free(struct api_pointer *pointer); /* NULL is fine */
/* Does it carry a condition? Its node then says that something is so, not what. */
bool api_pointer_conditional(const struct api_pointer *pointer);

/* Calls `found` for every node that the pointer leads to, in document order; stops when it answers false. */
void api_pointer_each(const struct api_pointer *pointer, const struct jdoc *doc, jdoc_id root,
                      bool (*found)(const struct jdoc *doc, jdoc_id node, void *data), void *data);
/* The first node that is not null; JDOC_NONE. */
jdoc_id api_pointer_first(const struct api_pointer *pointer, const struct jdoc *doc, jdoc_id root);

/* A list of pointers; several are alternatives (the first that leads to something counts) unless said otherwise. */
struct api_pointers {
	struct api_pointer **list;
	size_t count;
	bool sum;     /* of usage: no alternatives, what they lead to is added up */
	char *header; /* of usage and timings: a header of the response, where the body does not say; lower case; NULL */
};

/* The alternative that counts: the first non-null node of the first pointer that leads to one; *which (may be NULL) is
 * that pointer. */
jdoc_id api_pointers_first(const struct api_pointers *pointers, const struct jdoc *doc, jdoc_id root,
                           const struct api_pointer **which);

enum api_framing { API_SSE, API_NDJSON, API_JSON, API_JSON_SEQUENCE, API_GRPC };
const char *api_framing_name(enum api_framing framing);
enum api_text_mode { API_DELTA, API_CUMULATIVE, API_CUMULATIVE_WITH_PROMPT, API_PREFIX };

/* The server's own timings, by a name that all servers share; each is `server_NAME_ns` in the results. */
enum api_server_time {
	API_SERVER_LOAD,      /* until the model was there */
	API_SERVER_QUEUE,     /* until the request was begun with */
	API_SERVER_PREFILL,   /* computing the prompt */
	API_SERVER_TTFT,      /* from its arrival to its first token */
	API_SERVER_DECODE,    /* from the first to the last token */
	API_SERVER_TPOT,      /* a token of it */
	API_SERVER_INFERENCE, /* prompt and tokens, without the queue */
	API_SERVER_TOTAL,     /* from its arrival to its end */
	API_SERVER_TIMES
};
const char *api_server_time_name(enum api_server_time which);

struct api_timing {
	struct api_pointers at;   /* no pointer and no header: the server does not tell */
	struct api_pointers from; /* where there is one: what is meant is the time from there to `at` */
	double unit_ns;
};

/* A server's finish reason in the house's words: stop, length, tool_calls, content_filter, error. */
struct api_finish_word {
	char *server;
	char *house; /* NULL: it says that there is none yet */
};

struct api_response {
	enum api_framing framing;
	enum api_text_mode text_mode;
	bool envelope; /* what `framing` cuts is the contents of an event stream of Amazon's (envelope.h) */
	struct api_pointers text, reasoning; /* alternatives; all nodes that one leads to are joined */
	struct api_pointers prefix_len;    /* API_PREFIX: so many characters of the text so far stay before the new ones */
	struct api_pointers data;          /* an answer that is no text, such as embeddings: anything but null there */
	char *text_after;                  /* the text begins after the first of these; NULL */
	struct api_pointers tools;         /* all of them: names and arguments that the model wrote */
	struct api_pointers finish, error; /* alternatives */
	struct api_pointers input_tokens, output_tokens, reasoning_tokens, cached_tokens; /* of the usage; alternatives */
	char *error_event;            /* SSE: an event of this name is an error, whatever is in it; NULL: none */
	char *end_data;               /* SSE: data that ends the stream ("[DONE]"); NULL: none */
	struct api_pointers end_when; /* the stream has ended when one of these is there and neither null nor false */
	bool end_at_eof; /* neither: the end of the transfer is the end mark; gRPC has its status, beside end_when */
	struct api_finish_word *finish_words;
	size_t finish_words_count;
	struct api_timing times[API_SERVER_TIMES];
	bool has_times, has_headers; /* any timing; any header that counts */
};

struct api;

/* A descriptor says `"like": NAME` where it is like a built-in one but for what it says itself: its members are merged
 * into that one's as RFC 7396 has it (null takes one out), and the whole is what api_json gives.
 *
 * A built-in name, or a file where `name` has a slash or ends in .json. IPF_USAGE for an unknown name (the text lists
 * the known ones), IPF_INPUT for a descriptor that makes no sense (file, member, value). */
int api_open(struct api **api, const char *name, struct ipf_error *err);
/* From JSON that stands in a records header (borrowed); `where` names it in errors. */
int api_from_json(struct api **api, json_t *descriptor, const char *where, struct ipf_error *err);
void api_close(struct api *api);

const char *api_name(const struct api *api);
const char *api_method(const struct api *api);
/* May have "$model" in it, for the model's name, and a query. NULL where it has no such answers. */
const char *api_path(const struct api *api, bool streamed);
/* Paths of which the first that the server knows says whether it is ready; i = 0, 1, … until NULL. */
const char *api_ready_path(const struct api *api, size_t i);
/* The messages of gRPC; NULL where the API is none. Their types, of requests and of answers. */
struct protobuf_schema;
const struct protobuf_schema *api_protobuf(const struct api *api);
int api_request_type(const struct api *api, bool streamed);
int api_response_type(const struct api *api, bool streamed);
/* Headers of the response that the response half reads (lower case); i = 0, 1, … until NULL. */
const char *api_response_header(const struct api *api, size_t i);
json_t *api_request(const struct api *api); /* borrowed: the "request" object: headers, auth, body, stream, whole,
                                               exact_output, params */
json_t *api_json(const struct api *api);    /* borrowed: the whole descriptor */
/* The response half for a streamed or a whole answer; NULL where the descriptor has none of that kind (it has one of
 * them at least). */
const struct api_response *api_response(const struct api *api, bool streamed);

/* May a body template name this field ("$" and a name, without the "$")? i = 0, 1, … until NULL lists them. */
bool api_field_known(const char *name);
const char *api_field(size_t i);
/* Is a header's value one that each request has for itself: "$id", "$session", "$model"? */
bool api_header_field(const char *value);

/* The built-in descriptors: name and what it is for (good until the next call), i = 0, 1, … until NULL. */
const char *api_builtin(size_t i, const char **about);

#endif
