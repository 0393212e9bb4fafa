/* Splits one direction of a captured HTTP/2 connection into frames (RFC 9113 section 4.1), from bytes in pieces of any
 * size, some of which may be missing.
 *
 *     struct http2_frames frames = {0};
 *     switch (http2_frames_read(&frames, bytes, t_ns, &sink, data)) …   // calls the sink
 *     if (!http2_frames_lost(&frames, len, t_ns, &sink, data, &result)) // the next frame may be anywhere
 *         http2_frames_drop(&frames);
 *     if (http2_frames_begin_here(&frames, segment, is_open, data)) …   // read on from this segment
 *     http2_frames_release(&frames);
 *
 * DATA comes in pieces as they are captured, without padding; the payload of other frames is given when they end. The
 * preface of a client is no frame.
 */
#ifndef IPF_CAPTURE_HTTP2_FRAMES_H
#define IPF_CAPTURE_HTTP2_FRAMES_H

#include "buffer.h"

#include <stdint.h>

enum {
	HTTP2_FRAME_HEADER = 9,          /* bytes of a frame's header */
	HTTP2_PAYLOAD_MOST = 256 << 10,  /* bytes kept of a payload, but for DATA */
	HTTP2_FRAME_SIZE_LEAST = 1 << 14 /* every receiver accepts this length */
};

enum http2_frame_type {
	HTTP2_FRAME_DATA,
	HTTP2_FRAME_HEADERS,
	HTTP2_FRAME_PRIORITY,
	HTTP2_FRAME_RST_STREAM,
	HTTP2_FRAME_SETTINGS,
	HTTP2_FRAME_PUSH_PROMISE,
	HTTP2_FRAME_PING,
	HTTP2_FRAME_GOAWAY,
	HTTP2_FRAME_WINDOW_UPDATE,
	HTTP2_FRAME_CONTINUATION,
	HTTP2_FRAME_TYPES /* others are unknown */
};

enum http2_flag {
	HTTP2_FLAG_END_STREAM = 0x1, /* DATA and HEADERS */
	HTTP2_FLAG_ACK = 0x1,        /* SETTINGS and PING */
	HTTP2_FLAG_END_HEADERS = 0x4,
	HTTP2_FLAG_PADDED = 0x8,
	HTTP2_FLAG_PRIORITY = 0x20
};

struct http2_frame {
	uint32_t len; /* the payload's, with padding */
	uint8_t type, flags;
	int32_t stream;
	int64_t t_ns;         /* when its first byte came */
	struct slice payload; /* with padding; empty for DATA */
	bool lossy;           /* a part of the payload is missing */
	bool too_long;        /* the payload was not kept */
};

/* Each returns 0, or -1 to stop. */
struct http2_frame_sink {
	int (*data)(void *data, const struct http2_frame *frame, struct slice bytes); /* a piece of DATA */
	int (*ended)(void *data, const struct http2_frame *frame);                    /* a frame, DATA as well */
};

enum http2_frames_result {
	HTTP2_FRAMES_MORE,
	HTTP2_FRAMES_FAULT,   /* it is no frame */
	HTTP2_FRAMES_STOPPED, /* by the sink */
	HTTP2_FRAMES_NO_MEMORY
};

/* Zero-initialise. */
struct http2_frames {
	struct http2_frame frame;
	struct buffer payload; /* if it comes in several pieces */
	uint32_t left;         /* bytes of the payload to come */
	uint32_t longest;      /* frame so far */
	uint8_t header[HTTP2_FRAME_HEADER], header_len;
	uint8_t padding;
	bool within;         /* the header is complete, the payload is not */
	bool padding_known;  /* its length, of DATA, has come */
	bool strict;         /* set it if bytes are missing: unusual frames are faults as well, such as unknown types */
	int32_t stream_most; /* set it with `strict`: greater ids are unusual; 0: they are not */
};

/* After HTTP2_FRAMES_FAULT or _NO_MEMORY only http2_frames_drop and _release may follow. */
enum http2_frames_result http2_frames_read(struct http2_frames *f, struct slice bytes, int64_t t_ns,
                                           const struct http2_frame_sink *sink, void *data);

/* The next `len` bytes are missing. False: not all of them are in the payload of one frame, so the beginning of the
 * next one is unknown. Otherwise *result is the sink's, since the frame may have ended. */
bool http2_frames_lost(struct http2_frames *f, uint64_t len, const struct http2_frame_sink *sink, void *data,
                       enum http2_frames_result *result);

/* Could a frame begin with these bytes of a segment? All frame headers in it must be possible, and there must be
 * further evidence: a second frame, the end of a frame at the segment's end, an open stream, or a type of fixed
 * length. */
bool http2_frames_begin_here(const struct http2_frames *f, struct slice bytes,
                             bool (*is_open)(const void *data, int32_t stream), const void *data);

/* Forgets the frame at hand. */
void http2_frames_drop(struct http2_frames *f);
void http2_frames_release(struct http2_frames *f);

/* The header block fragment of HEADERS, PUSH_PROMISE or CONTINUATION, without padding, priority and promised stream.
 * False: the frame is malformed. */
bool http2_frame_fragment(const struct http2_frame *frame, struct slice *fragment);

/* A big-endian number of the payload. 0: it is too short. */
uint32_t http2_frame_number(const struct http2_frame *frame, size_t at);

#endif
