/* What the modules of protobuf.h share: the compiled description, and the wire. Private to lib/. */
#ifndef IPF_PROTOBUF_PRIVATE_H
#define IPF_PROTOBUF_PRIVATE_H

#include "protobuf/protobuf.h"

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
	PB_TENSORS, /* the raw contents of the tensors that another field of the message describes */
};
extern const char *const protobuf_scalars[PB_SCALARS];

struct protobuf_field {
	char *name;
	uint32_t number;
	enum protobuf_kind kind;
	int type; /* PB_MESSAGE: which; PB_ENUM: which; -1 */
	bool repeated, packed;
	bool map; /* of keys of map_key to values of `kind` */
	enum protobuf_kind map_key;
	char *of;        /* PB_TENSORS: the name of the field that has the tensors' names and types */
	char *type_name; /* as it was written */
};

#define PROTOBUF_FIELDS 64 /* of a message, at most */

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

/* NULL where the message type has none of that number, of that name. */
const struct protobuf_field *protobuf_by_number(const struct protobuf_schema *p, int type, uint32_t number);
const struct protobuf_field *protobuf_by_name(const struct protobuf_schema *p, int type, const char *name, size_t len);
const char *protobuf_type_name(const struct protobuf_schema *p, int type);

/* ---- the wire ---- */

enum wire_type { WIRE_VARINT = 0, WIRE_I64 = 1, WIRE_LEN = 2, WIRE_I32 = 5 };

enum wire_type protobuf_wire_type(enum protobuf_kind kind);

struct wire_field {
	uint32_t number;
	enum wire_type type;
	uint64_t value;    /* of all but WIRE_LEN */
	struct slice data; /* of WIRE_LEN */
};

/* The field at *at, which moves on: 1, 0 at the end, -1 where the bytes are no field. */
int wire_next(struct slice message, size_t *at, struct wire_field *field);
/* One number of a packed list; 1, 0 at the end, -1. */
int wire_packed(struct slice list, size_t *at, enum wire_type type, uint64_t *value);

void wire_varint(struct buffer *out, uint64_t value);
void wire_tag(struct buffer *out, uint32_t number, enum wire_type type);
void wire_fixed(struct buffer *out, uint64_t value, size_t bytes);
/* Puts the length of what was appended since `from` before it. */
void wire_close(struct buffer *out, size_t from);

/* Nesting beyond is refused: no message of a model server is so deep. */
#define PROTOBUF_DEPTH 64

#endif
