#include "protobuf/grpc_wire.h"

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
