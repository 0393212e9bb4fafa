#include "protobuf/protobuf_private.h"

#include <string.h>

enum wire_type protobuf_wire_type(enum protobuf_kind kind)
{
	switch (kind) {
	case PB_DOUBLE:
	case PB_FIXED64:
	case PB_SFIXED64:
		return WIRE_I64;
	case PB_FLOAT:
	case PB_FIXED32:
	case PB_SFIXED32:
		return WIRE_I32;
	case PB_INT64:
	case PB_UINT64:
	case PB_INT32:
	case PB_UINT32:
	case PB_SINT64:
	case PB_SINT32:
	case PB_BOOL:
	case PB_ENUM:
		return WIRE_VARINT;
	case PB_STRING:
	case PB_BYTES:
	case PB_MESSAGE:
	case PB_TENSORS:
		break;
	}
	return WIRE_LEN;
}

/* ---- reading ---- */

static bool read_varint(struct slice from, size_t *at, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; shift < 70 && *at < from.len; shift += 7) {
		uint64_t byte = (unsigned char)from.data[(*at)++];
		if (shift == 63 && byte > 1) /* more than 64 bits */
			return false;
		*value |= (byte & 0x7f) << shift;
		if (byte < 0x80)
			return true;
	}
	return false;
}

static bool read_fixed(struct slice from, size_t *at, size_t bytes, uint64_t *value)
{
	*value = 0;
	if (from.len - *at < bytes)
		return false;
	for (size_t i = 0; i < bytes; i++)
		*value |= (uint64_t)(unsigned char)from.data[(*at)++] << (8 * i);
	return true;
}

int wire_next(struct slice message, size_t *at, struct wire_field *field)
{
	uint64_t tag, len;
	if (*at >= message.len)
		return 0;
	if (!read_varint(message, at, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
		return -1;
	*field = (struct wire_field){.number = (uint32_t)(tag >> 3), .type = (enum wire_type)(tag & 7)};
	switch (field->type) {
	case WIRE_VARINT:
		return read_varint(message, at, &field->value) ? 1 : -1;
	case WIRE_I64:
		return read_fixed(message, at, 8, &field->value) ? 1 : -1;
	case WIRE_I32:
		return read_fixed(message, at, 4, &field->value) ? 1 : -1;
	case WIRE_LEN:
		if (!read_varint(message, at, &len) || len > message.len - *at)
			return -1;
		field->data = (struct slice){message.data + *at, (size_t)len};
		*at += (size_t)len;
		return 1;
	}
	return -1; /* groups, which nobody has used for long, and what is no type at all */
}

int wire_packed(struct slice list, size_t *at, enum wire_type type, uint64_t *value)
{
	if (*at >= list.len)
		return 0;
	bool good = type == WIRE_VARINT ? read_varint(list, at, value)
	                                : read_fixed(list, at, type == WIRE_I64 ? 8 : 4, value);
	return good ? 1 : -1;
}

/* ---- writing ---- */

void wire_varint(struct buffer *out, uint64_t value)
{
	for (; value > 0x7f; value >>= 7)
		buffer_byte(out, (char)(unsigned char)(value | 0x80));
	buffer_byte(out, (char)value);
}

void wire_tag(struct buffer *out, uint32_t number, enum wire_type type)
{
	wire_varint(out, (uint64_t)number << 3 | type);
}

void wire_fixed(struct buffer *out, uint64_t value, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++, value >>= 8)
		buffer_byte(out, (char)(unsigned char)value);
}

void wire_close(struct buffer *out, size_t from)
{
	size_t len = out->failed ? 0 : out->len - from, bytes = 1;
	for (size_t left = len; left > 0x7f; left >>= 7)
		bytes++;
	if (!buffer_reserve(out, bytes))
		return;
	memmove(out->data + from + bytes, out->data + from, len + 1);
	out->len += bytes;
	for (size_t i = 0; i < bytes; i++, len >>= 7)
		out->data[from + i] = (char)(unsigned char)((len & 0x7f) | (i + 1 < bytes ? 0x80 : 0));
}

/* ---- gRPC ---- */

void grpc_prefix(size_t len, char prefix[GRPC_PREFIX])
{
	prefix[0] = 0;
	for (size_t i = 1; i < GRPC_PREFIX; i++)
		prefix[i] = (char)(unsigned char)(len >> (8 * (GRPC_PREFIX - 1 - i)));
}

int grpc_frame(struct slice body, size_t at, bool *compressed, struct slice *message, size_t *next)
{
	if (at >= body.len)
		return 0;
	unsigned char flag = (unsigned char)body.data[at];
	if (flag > 1)
		return -1;
	if (body.len - at < GRPC_PREFIX)
		return 0;
	size_t len = 0;
	for (size_t i = 1; i < GRPC_PREFIX; i++)
		len = len << 8 | (unsigned char)body.data[at + i];
	if (len > body.len - at - GRPC_PREFIX)
		return 0;
	*compressed = flag;
	*message = (struct slice){body.data + at + GRPC_PREFIX, len};
	*next = at + GRPC_PREFIX + len;
	return 1;
}

const char *grpc_status_name(int64_t code)
{
	static const char *const names[] = {
		"OK",        "CANCELLED",       "UNKNOWN",           "INVALID_ARGUMENT",   "DEADLINE_EXCEEDED",
		"NOT_FOUND", "ALREADY_EXISTS",  "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION",
		"ABORTED",   "OUT_OF_RANGE",    "UNIMPLEMENTED",     "INTERNAL",           "UNAVAILABLE",
		"DATA_LOSS", "UNAUTHENTICATED",
	};
	return code >= 0 && (size_t)code < sizeof names / sizeof *names ? names[code] : NULL;
}

static int hex(char c)
{
	return c >= '0' && c <= '9'   ? c - '0'
	       : c >= 'A' && c <= 'F' ? c - 'A' + 10
	       : c >= 'a' && c <= 'f' ? c - 'a' + 10
	                              : -1;
}

void grpc_message_decode(struct slice encoded, struct buffer *out)
{
	for (size_t i = 0; i < encoded.len; i++) {
		const char *c = encoded.data + i;
		if (*c == '%' && encoded.len - i > 2 && hex(c[1]) >= 0 && hex(c[2]) >= 0) {
			buffer_byte(out, (char)(unsigned char)(hex(c[1]) << 4 | hex(c[2])));
			i += 2;
		} else {
			buffer_byte(out, *c);
		}
	}
}
