#include "capture/http2_talk.h"

#include "absent.h"
#include "capture/http2_frames.h"
#include "capture/http2_headers.h"
#include "capture/http2_streams.h"

#include <stdlib.h>

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
enum { PREFACE = sizeof preface - 1 };
/* Among missing bytes there are fewer requests: greater ids are other bytes taken for frames. */
enum { IDS_AHEAD = 1 << 16 };

/* A header block: HEADERS or PUSH_PROMISE, and the CONTINUATION frames behind it. */
struct block {
	struct http2_frame first;
	struct buffer fragments; /* if there are several frames */
	bool open;               /* frames of it are to come */
};

struct side {
	struct http2_frames frames;
	struct http2_headers headers;
	struct block block;
	uint8_t preface; /* number of the client's bytes so far */
	bool begun;      /* bytes came */
	bool settled;    /* its first frame came, which is SETTINGS */
	bool adrift;     /* where the next frame begins is not known */
};

struct http2 {
	struct talk_context *context;
	struct talk_about *about;
	struct side sides[2];
	struct http2_streams streams;
	enum tcp_side from;         /* who sent the bytes at hand */
	int64_t t_ns;               /* when they came */
	struct captured *taking;    /* whose headers are being decoded; NULL: they are not wanted */
	enum capture_damage damage; /* every exchange from now on has it */
	int32_t last_stream;        /* the greatest id of a request */
	int64_t left_ns;            /* when the client finished, before the server did; IPF_ABSENT: it did not */
	bool server_finished;
	enum talk_result stopped_by; /* why a frame stopped the reading */
	struct ipf_error *err;
};

static int fail_memory(struct http2 *t)
{
	t->stopped_by = TALK_FAILED;
	return ipf_error_memory(t->err);
}

static int refuse(struct http2 *t)
{
	t->stopped_by = TALK_OTHER;
	return -1;
}

/* ---- streams ---- */

static size_t headers_size(const struct captured *x)
{
	return x->method.cap + x->target.cap + x->request.headers.cap + x->answer.headers.cap;
}

static int end_stream(struct http2 *t, struct http2_stream *s, int64_t t_ns)
{
	struct captured *x = s->x;
	http2_streams_remove(&t->streams, s);
	t->context->streams--;
	t->context->stream_headers -= headers_size(x);
	x->end_ns = t_ns > x->start_ns ? t_ns : x->start_ns;
	if (t->context->ended(t->context->data, x, t->err) == 0)
		return 0;
	t->stopped_by = TALK_FAILED;
	return -1;
}

static int make_room(struct http2 *t)
{
	struct http2_stream *oldest = t->streams.oldest;
	if (!oldest || (t->streams.count < HTTP2_STREAMS_MOST && t->context->streams < HTTP2_STREAMS_ALL))
		return 0;
	captured_damaged(oldest->x, DAMAGE_TOO_LARGE);
	return end_stream(t, oldest, t->t_ns);
}

/* Takes the exchange over. */
static struct http2_stream *add_stream(struct http2 *t, int32_t id, struct captured *x)
{
	struct http2_stream *s = x ? http2_streams_add(&t->streams, id, x) : NULL;
	if (!s) {
		if (x)
			captured_free(x, &t->context->memory);
		fail_memory(t);
		return NULL;
	}
	x->http = 2;
	x->stream = id;
	captured_damaged(x, t->damage);
	t->last_stream = id > t->last_stream ? id : t->last_stream;
	t->context->streams++;
	t->context->stream_headers += headers_size(x);
	return s;
}

static struct http2_stream *begin_stream(struct http2 *t, int32_t id, int64_t t_ns)
{
	return make_room(t) < 0 ? NULL : add_stream(t, id, talk_begin(t->context, t->about, t_ns));
}

/* Sets *s to the stream of a frame; NULL: it has ended. A stream is begun if its request is not in the capture. */
static int find_stream(struct http2 *t, const struct http2_frame *frame, struct http2_stream **s)
{
	*s = http2_streams_find(&t->streams, frame->stream);
	if (*s || !t->sides[TCP_CLIENT].headers.lost || !(frame->stream & 1) ||
	    http2_streams_has_ended(&t->streams, frame->stream))
		return 0;
	if (!(*s = begin_stream(t, frame->stream, frame->t_ns)))
		return -1;
	(*s)->unread = true;
	return 0;
}

static bool is_open(const void *data, int32_t id)
{
	const struct http2 *t = data;
	return http2_streams_find(&t->streams, id) != NULL;
}

/* ---- missing bytes ---- */

/* Parts of any exchange may be missing from now on. */
static void damage_all(struct http2 *t, enum capture_damage damage)
{
	t->damage = damage > t->damage ? damage : t->damage;
	for (struct http2_stream *s = t->streams.oldest; s; s = s->newer)
		captured_damaged(s->x, t->damage);
}

static enum capture_damage damage_of_loss(const struct http2 *t)
{
	return t->context->snapped ? DAMAGE_SNAPPED : DAMAGE_LOST;
}

/* A header block is missing. */
static void lose_headers(struct http2 *t, struct side *side, enum capture_damage damage)
{
	damage_all(t, damage);
	http2_headers_lose(&side->headers);
}

/* Where the side's next frame begins is not known any more. */
static void drift(struct http2 *t, struct side *side, enum capture_damage damage)
{
	lose_headers(t, side, damage);
	http2_frames_drop(&side->frames);
	side->frames.strict = true;
	buffer_release(&side->block.fragments);
	side->block.open = false;
	side->begun = side->settled = side->adrift = true;
	side->preface = PREFACE;
}

/* ---- headers ---- */

static void take_request_header(void *data, struct slice name, struct slice value)
{
	struct captured *x = ((struct http2 *)data)->taking;
	if (!x)
		return;
	if (slice_is(name, ":method") && !x->method.len)
		buffer_slice(&x->method, value);
	else if (slice_is(name, ":path") && !x->target.len)
		buffer_slice(&x->target, value);
	else if (slice_is(name, ":authority"))
		captured_header(&x->request, slice_of("host"), value);
	else if (name.len && name.data[0] != ':')
		captured_header(&x->request, name, value);
}

static void take_answer_header(void *data, struct slice name, struct slice value)
{
	struct captured *x = ((struct http2 *)data)->taking;
	if (!x)
		return;
	if (slice_is(name, ":status")) {
		captured_headers_forget(&x->answer); /* an interim response's */
		x->status = value.len == 3 && value.data[0] >= '1' && value.data[0] <= '9' ? atoi(value.data) : IPF_ABSENT;
	} else if (name.len && name.data[0] != ':') {
		captured_header(&x->answer, name, value);
	}
}

/* The headers of all streams together are limited. */
static void forget_headers(struct captured *x)
{
	captured_damaged(x, DAMAGE_TOO_LARGE);
	buffer_release(&x->request.headers);
	buffer_release(&x->answer.headers);
}

/* Decodes the block for the stream, or for none. 1: its headers were added; 0: they are unknown; -1. */
static int decode(struct http2 *t, struct slice block, struct http2_stream *s)
{
	struct side *side = &t->sides[t->from];
	struct captured *x = t->taking = s ? s->x : NULL;
	const size_t before = x ? headers_size(x) : 0;
	const enum http2_headers_result result = http2_headers_inflate(
		&side->headers, block, t->from == TCP_CLIENT ? take_request_header : take_answer_header, t);
	t->taking = NULL;
	if (x && t->context->stream_headers - before + headers_size(x) > HTTP2_HEADERS_ALL)
		forget_headers(x);
	if (x)
		t->context->stream_headers += headers_size(x) - before;
	if (result == HTTP2_HEADERS_NO_MEMORY || (x && (x->method.failed || x->target.failed)))
		return fail_memory(t);
	if (result == HTTP2_HEADERS_BROKEN && !t->damage)
		return refuse(t);
	return result == HTTP2_HEADERS_READ;
}

/* ---- requests ---- */

static void end_request(struct http2 *t, struct http2_stream *s)
{
	s->x->sent_ns = t->t_ns;
	s->x->asked = !s->unread;
}

/* Begins the stream of a request, or finds it for its trailers. */
static int find_request(struct http2 *t, const struct http2_frame *first, struct http2_stream **s)
{
	*s = http2_streams_find(&t->streams, first->stream);
	if (*s || !(first->stream & 1))
		return 0;
	if (t->sides[TCP_CLIENT].headers.lost ? http2_streams_has_ended(&t->streams, first->stream)
	                                      : first->stream <= t->last_stream)
		return 0;
	return (*s = begin_stream(t, first->stream, first->t_ns)) ? 0 : -1;
}

static int take_request(struct http2 *t, const struct http2_frame *first, struct slice block)
{
	struct http2_stream *s;
	if (find_request(t, first, &s) < 0)
		return -1;
	const int decoded = decode(t, block, s);
	if (decoded < 0 || !s)
		return decoded < 0 ? -1 : 0;
	s->unread |= !decoded;
	if (first->flags & HTTP2_FLAG_END_STREAM)
		end_request(t, s);
	return 0;
}

/* ---- answers ---- */

static int end_answer(struct http2 *t, struct http2_stream *s)
{
	struct captured *x = s->x;
	if (x->damage == DAMAGE_NONE && (x->status == IPF_ABSENT || x->status < 200)) {
		x->error = RECORD_PROTOCOL;
		x->why = "the response ended before its headers";
	}
	return end_stream(t, s, t->t_ns);
}

static int take_answer(struct http2 *t, const struct http2_frame *first, struct slice block)
{
	struct http2_stream *s;
	if (find_stream(t, first, &s) < 0)
		return -1;
	const int decoded = decode(t, block, first->type == HTTP2_FRAME_PUSH_PROMISE ? NULL : s);
	if (decoded < 0 || !s || first->type == HTTP2_FRAME_PUSH_PROMISE)
		return decoded < 0 ? -1 : 0;
	if (s->x->first_byte_ns == IPF_ABSENT)
		s->x->first_byte_ns = first->t_ns;
	return first->flags & HTTP2_FLAG_END_STREAM ? end_answer(t, s) : 0;
}

/* ---- frames ---- */

static int end_block(struct http2 *t, struct slice block)
{
	struct side *side = &t->sides[t->from];
	const struct http2_frame first = side->block.first;
	side->block.open = false;
	const int status = t->from == TCP_CLIENT ? take_request(t, &first, block) : take_answer(t, &first, block);
	buffer_release(&side->block.fragments);
	return status;
}

/* HEADERS, PUSH_PROMISE, CONTINUATION. */
static int take_fragment(struct http2 *t, const struct http2_frame *frame)
{
	struct side *side = &t->sides[t->from];
	struct block *b = &side->block;
	struct slice fragment = {"", 0};
	const bool continues = frame->type == HTTP2_FRAME_CONTINUATION;
	const bool from_wrong_side = frame->type == HTTP2_FRAME_PUSH_PROMISE && t->from == TCP_CLIENT;
	if (continues != b->open || (continues && frame->stream != b->first.stream) || from_wrong_side)
		return refuse(t);
	if (frame->lossy)
		lose_headers(t, side, damage_of_loss(t));
	else if (frame->too_long || b->fragments.len + frame->payload.len > HTTP2_PAYLOAD_MOST)
		lose_headers(t, side, DAMAGE_TOO_LARGE);
	else if (!http2_frame_fragment(frame, &fragment))
		return refuse(t);
	if (!continues)
		b->first = *frame;
	if (!continues && frame->flags & HTTP2_FLAG_END_HEADERS)
		return end_block(t, fragment);
	b->open = true;
	buffer_slice(&b->fragments, fragment);
	if (b->fragments.failed)
		return fail_memory(t);
	return frame->flags & HTTP2_FLAG_END_HEADERS ? end_block(t, buffer_all(&b->fragments)) : 0;
}

/* RFC 9113 section 7. */
static const char *reset_text(uint64_t code)
{
#define RESET(name) "the server reset the stream: " name
	static const char *const texts[] = {
		RESET("NO_ERROR"),
		RESET("PROTOCOL_ERROR"),
		RESET("INTERNAL_ERROR"),
		RESET("FLOW_CONTROL_ERROR"),
		RESET("SETTINGS_TIMEOUT"),
		RESET("STREAM_CLOSED"),
		RESET("FRAME_SIZE_ERROR"),
		RESET("REFUSED_STREAM"),
		RESET("CANCEL"),
		RESET("COMPRESSION_ERROR"),
		RESET("CONNECT_ERROR"),
		RESET("ENHANCE_YOUR_CALM"),
		RESET("INADEQUATE_SECURITY"),
		RESET("HTTP_1_1_REQUIRED"),
	};
	return code < sizeof texts / sizeof *texts ? texts[code] : RESET("unknown error");
#undef RESET
}

static int take_reset(struct http2 *t, const struct http2_frame *frame)
{
	struct http2_stream *s = http2_streams_find(&t->streams, frame->stream);
	if (!s)
		return 0;
	s->x->stream_error = http2_frame_number(frame, 0);
	s->x->error = t->from == TCP_CLIENT ? RECORD_HUNG_UP : RECORD_RESET;
	s->x->why = t->from == TCP_CLIENT ? "the client reset the stream" : reset_text(s->x->stream_error);
	if (frame->lossy)
		captured_damaged(s->x, damage_of_loss(t));
	return end_stream(t, s, t->t_ns);
}

/* The server does not process requests after the last one it names. */
static int take_goaway(struct http2 *t, const struct http2_frame *frame)
{
	const int32_t last = (int32_t)(http2_frame_number(frame, 0) & INT32_MAX);
	if (t->from == TCP_CLIENT || frame->lossy || frame->too_long)
		return 0;
	for (struct http2_stream *s = t->streams.oldest, *next; s; s = next) {
		next = s->newer;
		if (s->id <= last)
			continue;
		s->x->error = RECORD_RESET;
		s->x->why = "the server closes the connection and has not processed the request (GOAWAY)";
		if (end_stream(t, s, t->t_ns) < 0)
			return -1;
	}
	return 0;
}

static int end_data(struct http2 *t, const struct http2_frame *frame)
{
	struct http2_stream *s;
	if (find_stream(t, frame, &s) < 0)
		return -1;
	if (!s || !(frame->flags & HTTP2_FLAG_END_STREAM))
		return 0;
	if (t->from == TCP_SERVER)
		return end_answer(t, s);
	if (s->x->sent_ns == IPF_ABSENT)
		end_request(t, s);
	return 0;
}

static int on_frame(void *data, const struct http2_frame *frame)
{
	struct http2 *t = data;
	struct side *side = &t->sides[t->from];
	if ((!side->settled && frame->type != HTTP2_FRAME_SETTINGS) ||
	    (side->block.open && frame->type != HTTP2_FRAME_CONTINUATION))
		return refuse(t);
	side->settled = true;
	switch (frame->type) {
	case HTTP2_FRAME_DATA:
		return end_data(t, frame);
	case HTTP2_FRAME_HEADERS:
	case HTTP2_FRAME_PUSH_PROMISE:
	case HTTP2_FRAME_CONTINUATION:
		return take_fragment(t, frame);
	case HTTP2_FRAME_RST_STREAM:
		return take_reset(t, frame);
	case HTTP2_FRAME_GOAWAY:
		return take_goaway(t, frame);
	default:
		return 0;
	}
}

/* The encoding is known once the first byte of the body is there. */
static bool begins_body(struct captured_message *m)
{
	return m->wire_bytes > 0 || captured_body_begins(m);
}

static int on_data(void *data, const struct http2_frame *frame, struct slice bytes)
{
	struct http2 *t = data;
	struct http2_stream *s;
	struct captured_memory *memory = &t->context->memory;
	if (find_stream(t, frame, &s) < 0)
		return -1;
	if (!s || s->unread || t->sides[t->from].headers.lost)
		return 0;
	struct captured *x = s->x;
	if (t->from == TCP_CLIENT && x->sent_ns == IPF_ABSENT &&
	    (!begins_body(&x->request) || !captured_request_body(x, bytes, memory)))
		return fail_memory(t);
	if (t->from == TCP_SERVER && (!begins_body(&x->answer) || !captured_answer_body(x, bytes, t->t_ns, memory)))
		return fail_memory(t);
	return 0;
}

static const struct http2_frame_sink sink = {on_data, on_frame};

/* ---- the connection ---- */

static void *open_talk(struct talk_context *context, struct talk_about *about)
{
	struct http2 *t = calloc(1, sizeof *t);
	if (!t)
		return NULL;
	t->context = context;
	t->about = about;
	t->left_ns = IPF_ABSENT;
	return t;
}

int http2_talk_upgraded(void *talk, struct captured *x, struct ipf_error *err)
{
	struct http2 *t = talk;
	t->err = err;
	return add_stream(t, 1, x) ? 0 : -1;
}

static enum talk_result result_of(struct http2 *t, struct side *side, enum http2_frames_result result)
{
	if (result == HTTP2_FRAMES_MORE)
		return TALK_MORE;
	if (result == HTTP2_FRAMES_NO_MEMORY)
		fail_memory(t);
	if (result != HTTP2_FRAMES_FAULT && t->stopped_by == TALK_FAILED)
		return TALK_FAILED;
	if (!t->damage && !t->about->began_before)
		return TALK_OTHER;
	drift(t, side, t->damage ? t->damage : DAMAGE_BEGAN_BEFORE); /* these bytes were no frames */
	return TALK_MORE;
}

/* Passes over the preface. False: other bytes are there. */
static bool take_preface(struct side *side, struct slice *bytes)
{
	const size_t left = PREFACE - (size_t)side->preface, len = bytes->len < left ? bytes->len : left;
	if (memcmp(bytes->data, preface + side->preface, len) != 0)
		return false;
	side->preface = (uint8_t)(side->preface + len);
	*bytes = (struct slice){bytes->data + len, bytes->len - len};
	return true;
}

/* The server's first frame, or a beginning of it, unless the connection began before the capture. */
static bool is_settings(struct slice bytes)
{
	return bytes.data[0] == 0 && (bytes.len <= 3 || bytes.data[3] == HTTP2_FRAME_SETTINGS) &&
	       (bytes.len <= 4 || !(bytes.data[4] & HTTP2_FLAG_ACK));
}

static enum talk_result take_bytes(void *talk, struct talk_bytes *b, struct ipf_error *err)
{
	struct http2 *t = talk;
	struct side *side = &t->sides[b->from];
	struct slice bytes = b->bytes;
	t->from = b->from;
	t->t_ns = b->t_ns;
	t->err = err;
	const bool good = b->from == TCP_CLIENT ? side->preface == PREFACE || take_preface(side, &bytes)
	                                        : side->begun || !t->about->began_before || is_settings(bytes);
	if (!good && (!t->about->began_before || side->preface))
		return TALK_OTHER;
	if (!good)
		drift(t, side, DAMAGE_BEGAN_BEFORE);
	side->begun = true;
	if (t->last_stream)
		side->frames.stream_most = t->last_stream < INT32_MAX - IDS_AHEAD ? t->last_stream + IDS_AHEAD : INT32_MAX;
	if (side->adrift && !http2_frames_begin_here(&side->frames, bytes, is_open, t))
		return TALK_MORE;
	side->adrift = false;
	return result_of(t, side, http2_frames_read(&side->frames, bytes, b->t_ns, &sink, t));
}

/* All missing bytes are in one frame: marks its stream. */
static void damage_frame(struct http2 *t, const struct http2_frame *frame)
{
	struct http2_stream *s = http2_streams_find(&t->streams, frame->stream);
	if (frame->type != HTTP2_FRAME_DATA || !s)
		return;
	captured_damaged(s->x, damage_of_loss(t));
	s->unread |= t->from == TCP_CLIENT && s->x->sent_ns == IPF_ABSENT;
}

static enum talk_result take_lost(void *talk, enum tcp_side from, uint64_t len, int64_t t_ns, struct ipf_error *err)
{
	struct http2 *t = talk;
	struct side *side = &t->sides[from];
	enum http2_frames_result result;
	t->from = from;
	t->t_ns = t_ns;
	t->err = err;
	if (side->frames.within && len <= side->frames.left)
		damage_frame(t, &side->frames.frame);
	if (http2_frames_lost(&side->frames, len, &sink, t, &result))
		return result_of(t, side, result);
	drift(t, side, damage_of_loss(t));
	return TALK_MORE;
}

static int finish_side(void *talk, enum tcp_side from, int64_t t_ns, struct ipf_error *err)
{
	struct http2 *t = talk;
	(void)err;
	if (from == TCP_CLIENT && !t->server_finished)
		t->left_ns = t_ns;
	t->server_finished |= from == TCP_SERVER;
	return 0;
}

static int end_all(void *talk, const struct talk_end *end, struct ipf_error *err)
{
	struct http2 *t = talk;
	const struct talk_closing closing = {t->left_ns, t->server_finished};
	t->err = err;
	while (t->streams.oldest)
		if (end_stream(t, t->streams.oldest, talk_end_exchange(t->streams.oldest->x, &closing, end)) < 0)
			return -1;
	return 0;
}

static void close_talk(void *talk)
{
	struct http2 *t = talk;
	if (!t)
		return;
	for (struct http2_stream *s = t->streams.oldest; s; s = s->newer) {
		t->context->streams--;
		t->context->stream_headers -= headers_size(s->x);
		captured_free(s->x, &t->context->memory);
	}
	http2_streams_release(&t->streams);
	for (int i = 0; i < 2; i++) {
		http2_frames_release(&t->sides[i].frames);
		http2_headers_release(&t->sides[i].headers);
		buffer_release(&t->sides[i].block.fragments);
	}
	free(t);
}

const struct talk_reader http2_talk = {open_talk, take_bytes, take_lost, finish_side, end_all, close_talk};
