/* Protocol buffers to JSON and back, by a schema that is data (protobuf_schema.h).
 *
 *     protobuf_encode(schema, type, &scratch, json_text, &message, &err);
 *     protobuf_decode(schema, type, buffer_all(&message), &json, &err);
 *
 * Because messages become JSON, templates and JSON Pointers work for gRPC as for any other API. A message is an object
 * of its fields by name, a repeated field an array, a map<> an object, an enum its name, bytes a string. There are no
 * defaults, as on the wire: a field that was not sent is absent. A field the schema lacks appears under its number, so
 * a user sees it and can point to it.
 */
#ifndef IPF_PROTOBUF_H
#define IPF_PROTOBUF_H

#include "buffer.h"
#include "error.h"
#include "json/jdoc.h"
#include "protobuf/protobuf_schema.h"

/* Appends the message a JSON object describes. `scratch` is used to parse it. -1: out of memory, or IPF_INPUT for JSON
 * that does not fit the schema: `Parameters.max_new_tokens: expected a uint32, got "many"`. */
int protobuf_encode(const struct protobuf_schema *schema, int type, struct jdoc *scratch, struct slice json,
                    struct buffer *out, struct ipf_error *err);

/* Appends the message as a JSON object. -1: out of memory, or IPF_INPUT for bytes that are not such a message; `out`
 * then holds part of the object. */
int protobuf_decode(const struct protobuf_schema *schema, int type, struct slice message, struct buffer *out,
                    struct ipf_error *err);

/* Appends the contents of a message, without a schema: a line for each field with number, wire type and value, indented
 * by `indent` spaces. */
void protobuf_dump(struct slice message, int indent, struct buffer *out);

#endif
