#include "protobuf/protobuf_wire.h"

#include <string.h>

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
	return -1; /* groups, which are deprecated, and unknown types */
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

uint64_t wire_zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (value < 0 ? UINT64_MAX : 0);
}

void wire_string(struct buffer *out, uint32_t number, struct slice bytes)
{
	wire_tag(out, number, WIRE_LEN);
	wire_varint(out, bytes.len);
	buffer_slice(out, bytes);
}

void wire_double(struct buffer *out, uint32_t number, double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	wire_tag(out, number, WIRE_I64);
	wire_fixed(out, bits, sizeof bits);
}

void wire_uint(struct buffer *out, uint32_t number, uint64_t value)
{
	wire_tag(out, number, WIRE_VARINT);
	wire_varint(out, value);
}

size_t wire_open(struct buffer *out, uint32_t number)
{
	wire_tag(out, number, WIRE_LEN);
	return out->len;
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
