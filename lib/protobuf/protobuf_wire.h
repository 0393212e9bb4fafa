/* The wire format of protocol buffers: tagged fields, varints, fixed-size numbers. Needs no schema. */
#ifndef IPF_PROTOBUF_WIRE_H
#define IPF_PROTOBUF_WIRE_H

#include "buffer.h"

#include <stdint.h>

enum wire_type { WIRE_VARINT = 0, WIRE_I64 = 1, WIRE_LEN = 2, WIRE_I32 = 5 };

struct wire_field {
	uint32_t number;
	enum wire_type type;
	uint64_t value;    /* for all types but WIRE_LEN */
	struct slice data; /* for WIRE_LEN: bytes of the message */
};

/* Reads the field at *at and advances *at: 1; 0: end of the message; -1: malformed, or a group (deprecated, not
 * supported). */
int wire_next(struct slice message, size_t *at, struct wire_field *field);
/* Reads the number at *at of a packed list and advances *at: 1; 0: end of the list; -1: malformed. */
int wire_packed(struct slice list, size_t *at, enum wire_type type, uint64_t *value);

/* Each appends to `out`. */
void wire_varint(struct buffer *out, uint64_t value);
void wire_tag(struct buffer *out, uint32_t number, enum wire_type type);
void wire_fixed(struct buffer *out, uint64_t value, size_t bytes); /* little-endian */
uint64_t wire_zigzag(int64_t value);                               /* the bits of a sint32 or sint64 */
/* Whole fields, tag included. */
void wire_string(struct buffer *out, uint32_t number, struct slice bytes);
void wire_double(struct buffer *out, uint32_t number, double value);
void wire_uint(struct buffer *out, uint32_t number, uint64_t value); /* for the other integers too, see wire_zigzag */
/* Begins a field containing a message or a packed list, to be appended and ended with wire_close; returns the argument
 * for that. */
size_t wire_open(struct buffer *out, uint32_t number);
/* Inserts, before the bytes appended since `from`, their length as a varint: ends a WIRE_LEN field. */
void wire_close(struct buffer *out, size_t from);

#endif
