/* A protocol buffers schema as data: the message types and enums an API descriptor describes in its "grpc" member, see
 * ipf-api(5).
 *
 *     protobuf_schema_new(&schema, json, "mine.json", &err);        // {"messages": {…}, "enums": {…}, …}
 *     int type = protobuf_message_type(schema, "GenerationRequest");
 *     protobuf_encode(schema, type, …);                             // protobuf.h
 *
 * A schema is compiled once and only read afterwards: any number of threads may use it.
 */
#ifndef IPF_PROTOBUF_SCHEMA_H
#define IPF_PROTOBUF_SCHEMA_H

#include "buffer.h"
#include "error.h"
#include "protobuf/protobuf_wire.h"

#include <jansson.h>

/* In the order of protobuf_scalars. */
enum protobuf_kind {
	PB_DOUBLE,
	PB_FLOAT,
	PB_INT64,
	PB_UINT64,
	PB_INT32,
	PB_UINT32,
	PB_SINT64,
	PB_SINT32,
	PB_FIXED64,
	PB_FIXED32,
	PB_SFIXED64,
	PB_SFIXED32,
	PB_BOOL,
	PB_STRING,
	PB_BYTES,
	PB_SCALARS,
	PB_ENUM = PB_SCALARS,
	PB_MESSAGE,
	PB_TENSORS, /* the raw contents of tensors whose names and data types another field of the message lists */
};
/* Their names in a schema: "double", "float", … */
extern const char *const protobuf_scalars[PB_SCALARS];

struct protobuf_field {
	char *name;
	uint32_t number;
	enum protobuf_kind kind; /* the field's, its elements', or a map's values' */
	int type;                /* PB_MESSAGE: index into types; PB_ENUM: index into enums; otherwise -1 */
	bool repeated, packed;
	bool map;
	enum protobuf_kind map_key;
	char *of;        /* PB_TENSORS: the name of the field listing the tensors' names and data types */
	char *type_name; /* as the schema spells it */
};

#define PROTOBUF_FIELDS 64 /* the most fields of a message type */
#define PROTOBUF_DEPTH  64 /* the deepest nesting of messages; no model server comes near it */

struct protobuf_type {
	char *name;
	struct protobuf_field *fields;
	size_t count;
};

struct protobuf_word {
	char *name;
	int64_t number;
};

struct protobuf_enum {
	char *name;
	struct protobuf_word *words;
	size_t count;
};

struct protobuf_schema {
	struct protobuf_type *types;
	size_t types_count;
	struct protobuf_enum *enums;
	size_t enums_count;
};

/* Compiles a description: "messages", {NAME: {FIELD: "TYPE = NUMBER"}}, and optionally "enums", {NAME: {WORD: NUMBER}}.
 * It is borrowed and not needed afterwards. -1: out of memory, or IPF_INPUT with `file`, the member and the expected
 * value. */
int protobuf_schema_new(struct protobuf_schema **schema, json_t *description, const char *file, struct ipf_error *err);
void protobuf_schema_free(struct protobuf_schema *schema); /* NULL is fine */

/* The index of the message type with this name; -1: there is none. */
int protobuf_message_type(const struct protobuf_schema *schema, const char *name);
const char *protobuf_type_name(const struct protobuf_schema *schema, int type);

/* A field of a message type by its number or its name; NULL: the type has no such field. */
const struct protobuf_field *protobuf_by_number(const struct protobuf_schema *schema, int type, uint32_t number);
const struct protobuf_field *protobuf_by_name(const struct protobuf_schema *schema, int type, const char *name,
                                              size_t len);

/* How a field looks in JSON; false: the type has no such field. */
struct protobuf_shape {
	int message;        /* the type of its messages; -1: the values are not messages */
	bool repeated, map; /* at most one of the two */
};
bool protobuf_field_shape(const struct protobuf_schema *schema, int type, const char *name,
                          struct protobuf_shape *shape);

/* Appends the field numbers and the type behind a place in the JSON of a message: "10.1 DecodingMethod" for
 * "/params/method". "*" in the place stands for any element of a list or map. Appends "not described" if the schema
 * does not have the place. */
void protobuf_field_path(const struct protobuf_schema *schema, int type, const char *pointer, struct buffer *out);

/* How values of this kind are encoded. */
enum wire_type protobuf_wire_type(enum protobuf_kind kind);

#endif
