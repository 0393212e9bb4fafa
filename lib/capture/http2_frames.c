#include "capture/http2_frames.h"

/* A larger buffer is not kept for the next frame. */
#define KEPT ((size_t)4 << 10)

static uint32_t number_at(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static struct http2_frame parse_header(const uint8_t *p)
{
	return (struct http2_frame){.len = (uint32_t)p[0] << 16 | (uint32_t)p[1] << 8 | p[2],
	                            .type = p[3],
	                            .flags = p[4],
	                            .stream = (int32_t)(number_at(p + 5) & INT32_MAX)};
}

/* ---- which headers are possible ---- */

/* RFC 9113 section 6: lengths, and whether the frame belongs to a stream. */
static bool is_possible(const struct http2_frame *x)
{
	switch (x->type) {
	case HTTP2_FRAME_SETTINGS:
		return !x->stream && x->len % 6 == 0 && (!(x->flags & HTTP2_FLAG_ACK) || !x->len);
	case HTTP2_FRAME_PING:
		return !x->stream && x->len == 8;
	case HTTP2_FRAME_GOAWAY:
		return !x->stream && x->len >= 8;
	case HTTP2_FRAME_WINDOW_UPDATE:
		return x->len == 4;
	case HTTP2_FRAME_RST_STREAM:
		return x->stream && x->len == 4;
	case HTTP2_FRAME_PRIORITY: /* another length is a fault of the stream alone */
	case HTTP2_FRAME_DATA:
	case HTTP2_FRAME_HEADERS:
	case HTTP2_FRAME_PUSH_PROMISE:
	case HTTP2_FRAME_CONTINUATION:
		return x->stream != 0;
	default:
		return true;
	}
}

/* Is it a header as real peers write it? Other bytes shall not be taken for one. */
static bool is_usual(const struct http2_frames *f, const uint8_t *p)
{
	static const uint8_t flags[HTTP2_FRAME_TYPES] = {
		[HTTP2_FRAME_DATA] = HTTP2_FLAG_END_STREAM | HTTP2_FLAG_PADDED,
		[HTTP2_FRAME_HEADERS] = HTTP2_FLAG_END_STREAM | HTTP2_FLAG_END_HEADERS | HTTP2_FLAG_PADDED |
	                            HTTP2_FLAG_PRIORITY,
		[HTTP2_FRAME_SETTINGS] = HTTP2_FLAG_ACK,
		[HTTP2_FRAME_PUSH_PROMISE] = HTTP2_FLAG_END_HEADERS | HTTP2_FLAG_PADDED,
		[HTTP2_FRAME_PING] = HTTP2_FLAG_ACK,
		[HTTP2_FRAME_CONTINUATION] = HTTP2_FLAG_END_HEADERS,
	};
	const struct http2_frame x = parse_header(p);
	const uint32_t most = f->longest > HTTP2_FRAME_SIZE_LEAST ? f->longest : HTTP2_FRAME_SIZE_LEAST;
	if (x.type >= HTTP2_FRAME_TYPES || !is_possible(&x) || x.flags & ~flags[x.type] || x.len > most)
		return false;
	if (p[5] & 0x80 || (x.stream && !(x.stream & 1)) || (f->stream_most && x.stream > f->stream_most))
		return false;
	if (x.type == HTTP2_FRAME_DATA && !x.len)
		return x.flags == HTTP2_FLAG_END_STREAM;
	return x.type != HTTP2_FRAME_PRIORITY || x.len == 5;
}

static bool has_fixed_length(uint8_t type)
{
	return type == HTTP2_FRAME_PRIORITY || type == HTTP2_FRAME_RST_STREAM || type == HTTP2_FRAME_PING ||
	       type == HTTP2_FRAME_WINDOW_UPDATE;
}

bool http2_frames_begin_here(const struct http2_frames *f, struct slice bytes,
                             bool (*is_open)(const void *data, int32_t stream), const void *data)
{
	size_t at = 0, count = 0;
	bool evident = false;
	for (; at + HTTP2_FRAME_HEADER <= bytes.len; count++) {
		const uint8_t *p = (const uint8_t *)bytes.data + at;
		const struct http2_frame x = parse_header(p);
		if (!is_usual(f, p))
			return false;
		evident |= has_fixed_length(x.type) || (x.stream && is_open(data, x.stream));
		at += HTTP2_FRAME_HEADER + x.len;
	}
	return count > 1 || (count && (at == bytes.len || evident));
}

/* ---- reading ---- */

static void begin_frame(struct http2_frames *f)
{
	const int64_t t_ns = f->frame.t_ns;
	f->frame = parse_header(f->header);
	f->frame.t_ns = t_ns;
	f->left = f->frame.len;
	f->longest = f->frame.len > f->longest ? f->frame.len : f->longest;
	f->within = true;
	f->padding = 0;
	f->padding_known = f->frame.type != HTTP2_FRAME_DATA || !(f->frame.flags & HTTP2_FLAG_PADDED);
}

/* Returns the number of bytes used. */
static size_t take_header(struct http2_frames *f, struct slice bytes, int64_t t_ns)
{
	const size_t missing = HTTP2_FRAME_HEADER - (size_t)f->header_len;
	const size_t len = bytes.len < missing ? bytes.len : missing;
	if (!f->header_len)
		f->frame.t_ns = t_ns;
	memcpy(f->header + f->header_len, bytes.data, len);
	f->header_len = (uint8_t)(f->header_len + len);
	return len;
}

static int end_frame(struct http2_frames *f, const struct http2_frame_sink *sink, void *data)
{
	f->within = false;
	f->header_len = 0;
	const int status = sink->ended(data, &f->frame);
	f->frame.payload = (struct slice){0};
	if (f->payload.cap > KEPT)
		buffer_release(&f->payload);
	buffer_clear(&f->payload);
	return status;
}

/* A piece of DATA, which is not empty. */
static enum http2_frames_result take_data(struct http2_frames *f, struct slice bytes,
                                          const struct http2_frame_sink *sink, void *data)
{
	if (!f->padding_known) {
		f->padding = (uint8_t)bytes.data[0];
		f->padding_known = true;
		bytes = (struct slice){bytes.data + 1, bytes.len - 1};
		f->left--;
		if (f->padding > f->left)
			return HTTP2_FRAMES_FAULT;
	}
	const size_t content = f->left > f->padding ? f->left - f->padding : 0;
	f->left -= (uint32_t)bytes.len;
	bytes.len = bytes.len < content ? bytes.len : content;
	return bytes.len && sink->data(data, &f->frame, bytes) < 0 ? HTTP2_FRAMES_STOPPED : HTTP2_FRAMES_MORE;
}

static enum http2_frames_result take_payload(struct http2_frames *f, struct slice bytes,
                                             const struct http2_frame_sink *sink, void *data)
{
	if (f->frame.type == HTTP2_FRAME_DATA)
		return take_data(f, bytes, sink, data);
	f->left -= (uint32_t)bytes.len;
	if (f->frame.len > HTTP2_PAYLOAD_MOST) {
		f->frame.too_long = true;
	} else if (bytes.len == f->frame.len) {
		f->frame.payload = bytes;
	} else {
		buffer_slice(&f->payload, bytes);
		f->frame.payload = buffer_all(&f->payload);
	}
	return f->payload.failed ? HTTP2_FRAMES_NO_MEMORY : HTTP2_FRAMES_MORE;
}

enum http2_frames_result http2_frames_read(struct http2_frames *f, struct slice bytes, int64_t t_ns,
                                           const struct http2_frame_sink *sink, void *data)
{
	while (bytes.len) {
		if (!f->within) {
			const size_t used = take_header(f, bytes, t_ns);
			bytes = (struct slice){bytes.data + used, bytes.len - used};
			if (f->header_len < HTTP2_FRAME_HEADER)
				return HTTP2_FRAMES_MORE;
			if (f->strict && !is_usual(f, f->header))
				return HTTP2_FRAMES_FAULT;
			begin_frame(f);
			if (!is_possible(&f->frame))
				return HTTP2_FRAMES_FAULT;
		}
		const size_t len = bytes.len < f->left ? bytes.len : f->left;
		if (len) {
			const enum http2_frames_result result = take_payload(f, (struct slice){bytes.data, len}, sink, data);
			if (result != HTTP2_FRAMES_MORE)
				return result;
		}
		bytes = (struct slice){bytes.data + len, bytes.len - len};
		if (!f->left && end_frame(f, sink, data) < 0)
			return HTTP2_FRAMES_STOPPED;
	}
	return HTTP2_FRAMES_MORE;
}

bool http2_frames_lost(struct http2_frames *f, uint64_t len, const struct http2_frame_sink *sink, void *data,
                       enum http2_frames_result *result)
{
	if (!f->within || len > f->left)
		return false;
	f->left -= (uint32_t)len;
	f->frame.lossy = true;
	f->padding_known = true;
	*result = !f->left && end_frame(f, sink, data) < 0 ? HTTP2_FRAMES_STOPPED : HTTP2_FRAMES_MORE;
	return true;
}

void http2_frames_drop(struct http2_frames *f)
{
	f->within = false;
	f->header_len = 0;
	f->frame = (struct http2_frame){0};
	buffer_release(&f->payload);
}

void http2_frames_release(struct http2_frames *f)
{
	buffer_release(&f->payload);
}

/* ---- payloads ---- */

bool http2_frame_fragment(const struct http2_frame *frame, struct slice *fragment)
{
	const bool may_pad = frame->type != HTTP2_FRAME_CONTINUATION;
	const bool padded = may_pad && frame->flags & HTTP2_FLAG_PADDED;
	size_t head = padded;
	if (frame->type == HTTP2_FRAME_HEADERS && frame->flags & HTTP2_FLAG_PRIORITY)
		head += 5;
	if (frame->type == HTTP2_FRAME_PUSH_PROMISE)
		head += 4;
	if (frame->payload.len < head)
		return false;
	const size_t padding = padded ? (uint8_t)frame->payload.data[0] : 0, rest = frame->payload.len - head;
	if (padding > rest)
		return false;
	*fragment = rest ? (struct slice){frame->payload.data + head, rest - padding} : (struct slice){"", 0};
	return true;
}

uint32_t http2_frame_number(const struct http2_frame *frame, size_t at)
{
	return frame->payload.len >= at + 4 ? number_at((const uint8_t *)frame->payload.data + at) : 0;
}
