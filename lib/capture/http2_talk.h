/* HTTP/2 of a captured connection (RFC 9113), with gRPC over it: requests and responses by their streams; see talk.h.
 * The client has prior knowledge, or the connection was upgraded from HTTP/1.1 (h2c).
 *
 * The body of gRPC keeps the prefix of each message, and trailers are among the headers of the response.
 *
 * If all missing bytes are in one DATA frame, only its stream is damaged. Otherwise later header blocks of the
 * direction cannot be decoded, and frames of any stream may be missing: all exchanges from then on are damaged. Reading
 * goes on at a segment beginning with frames: they are still counted, and requests are read if the client's
 * direction is whole. A connection that began before the capture is read in the same way.
 *
 * At most HTTP2_STREAMS_MOST streams of a connection are open, HTTP2_STREAMS_ALL of all connections, and their headers
 * take HTTP2_HEADERS_ALL bytes. Beyond these, the oldest stream or the new headers are given up (DAMAGE_TOO_LARGE).
 */
#ifndef IPF_CAPTURE_HTTP2_TALK_H
#define IPF_CAPTURE_HTTP2_TALK_H

#include "capture/talk.h"

#define HTTP2_STREAMS_MOST ((size_t)65536)
#define HTTP2_STREAMS_ALL  ((size_t)262144)
#define HTTP2_HEADERS_ALL  ((size_t)256 << 20)

extern const struct talk_reader http2_talk;

/* Takes over the exchange that asked for the upgrade: its response comes on stream 1. Call it before the first bytes. 0
 * or -1. */
int http2_talk_upgraded(void *talk, struct captured *x, struct ipf_error *err);

#endif
