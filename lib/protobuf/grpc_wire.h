/* gRPC's wire format around protocol buffers: frames, status codes, the grpc-message header. */
#ifndef IPF_GRPC_WIRE_H
#define IPF_GRPC_WIRE_H

#include "buffer.h"

#include <stdint.h>

#define GRPC_PREFIX 5 /* bytes before each message: a compressed flag and the length, big-endian */

/* Writes the prefix of an uncompressed message of `len` bytes. */
void grpc_prefix(size_t len, char prefix[GRPC_PREFIX]);

/* Reads the frame at body[at]. 1: *message is its content, *next the offset of the next frame; 0: the rest is not a
 * whole frame; -1: the first byte is not a compressed flag, so this is not gRPC. */
int grpc_frame(struct slice body, size_t at, bool *compressed, struct slice *message, size_t *next);

/* The name of a status code, "UNAVAILABLE"; NULL: unknown code. */
const char *grpc_status_name(int64_t code);
/* Appends the text of a grpc-message header: its %XX escapes decoded, malformed ones unchanged. */
void grpc_message_decode(struct slice encoded, struct buffer *out);

#endif
