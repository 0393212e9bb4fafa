/* Protocol buffers by a description that is data: the `grpc` part of an API's descriptor, see ipf-api(5).
 *
 *     protobuf_schema_new(&p, json, "mine.json", &err);            // {"messages": {…}, "enums": {…}, …}
 *     int type = protobuf_message_type(p, "GenerationRequest");
 *     protobuf_encode(p, type, &scratch, json_text, &out, &err);
 *     protobuf_decode(p, type, message, &json, &err);
 *
 * Messages become JSON and come from JSON, so that templates and pointers are the same as for any other API: a message
 * is a map of its fields by their names, a repeated field a list, a map<> a map, an enum its name, bytes a text. As on
 * the wire there are no defaults: what was not sent is absent. A field that the description does not know is a member
 * named by its number, so that it can be seen and pointed to.
 *
 * The description is made once and then only read: any number of threads may use it.
 */
#ifndef IPF_PROTOBUF_H
#define IPF_PROTOBUF_H

#include "buffer.h"
#include "error.h"
#include "json/jdoc.h"

#include <jansson.h>

struct protobuf_schema;

/* `description` has "messages", {NAME: {FIELD: "TYPE = NUMBER"}}, and perhaps "enums", {NAME: {WORD: NUMBER}};
 * borrowed, and not needed afterwards. -1: memory, or IPF_INPUT (file `where`, the member and what was expected). */
int protobuf_schema_new(struct protobuf_schema **protobuf, json_t *description, const char *where,
                        struct ipf_error *err);
void protobuf_schema_free(struct protobuf_schema *p); /* NULL is fine */

/* The message type of this name; -1. */
int protobuf_message_type(const struct protobuf_schema *p, const char *name);

/* What a field is, by its name; false where the message type has none of it. */
struct protobuf_shape {
	int message;        /* the type of its messages; -1: they are no messages */
	bool repeated, map; /* at most one of them */
};
bool protobuf_field_shape(const struct protobuf_schema *p, int type, const char *name, struct protobuf_shape *shape);

/* Appends the message that the JSON map (`len` bytes; parsed in `scratch`) stands for. -1: memory, or IPF_INPUT for
 * what does not fit the description: `Parameters.max_new_tokens: expected a uint32, got "many"`. */
int protobuf_encode(const struct protobuf_schema *p, int type, struct jdoc *scratch, struct slice json,
                    struct buffer *out, struct ipf_error *err);

/* Appends the message as a JSON map. -1: memory, or IPF_INPUT for bytes that are no such message. `out` then has a part
 * of it. */
int protobuf_decode(const struct protobuf_schema *p, int type, struct slice message, struct buffer *out,
                    struct ipf_error *err);

/* Where a place in such a map, "/params/method" with a star for the elements of a list, is on the wire: appends "10.1
 * DecodingMethod", or "not described" where the description does not have it. */
void protobuf_field_path(const struct protobuf_schema *p, int type, const char *pointer, struct buffer *out);

/* Appends what a message holds without a description, a line for each field: number, wire type and value. `indent`
 * spaces before. */
void protobuf_dump(struct slice message, int indent, struct buffer *out);

#endif
