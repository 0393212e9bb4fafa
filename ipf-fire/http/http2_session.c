#include "http/http2_session.h"

#include "array.h"
#include "http/http2_memory.h"
#include "memory.h"

#include <limits.h>
#include <nghttp2/nghttp2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define WINDOW            INT32_MAX
#define CONTINUATIONS     64   /* frames of 16 KiB: more than HTTP2_HEADERS_MOST, whose breach ends the stream alone */
#define FRAMES_WAIT       4096 /* answers of ours possibly waiting for a socket taking nothing, and … */
#define FRAMES_WAIT_EACH  4    /* … for each stream */
#define KEPT_WHILE_IDLE   ((size_t)16 << 10)
#define HEADER_LINE_EXTRA 32 /* RFC 9113 section 6.5.2, SETTINGS_MAX_HEADER_LIST_SIZE */
#define HTTP1             "HTTP/1."

/* In the order of their ids, in which they are sent, so unsent ones are last. */
struct http2_stream {
	struct http2_stream *next, *previous;
	void *owner;
	struct unsent body;
	uint32_t header_bytes;
	int32_t id;
	bool open;     /* its HEADERS are sent */
	bool sent;     /* as a whole */
	bool answered; /* a status came */
	bool reset;    /* by the server */
	bool ended;    /* nothing is reported any more; freed when nghttp2 closes it */
};

struct http2_session {
	nghttp2_session *frames;
	const struct http2_sink *sink;
	struct http2_stream *first, *last, *first_held;
	size_t count;      /* in the list */
	size_t live, held; /* those in progress; … nor been sent */
	struct buffer output;
	nghttp2_nv *fields; /* the request being made */
	size_t fields_count, fields_cap, fields_bytes;
	const char *error; /* NULL: the connection is good */
	char protocol_error[120];
	uint32_t streams_most;
	bool settled, goaway;
	bool within;         /* a call of ours: nghttp2 must not be called again but to submit */
	unsigned char http1; /* how many of the first bytes are HTTP1's; more than it has: it is something else */
};

static const char no_memory[] = "out of memory";

/* ---- the list of streams ---- */

static void stream_append(struct http2_session *s, struct http2_stream *x)
{
	x->previous = s->last;
	*(s->last ? &s->last->next : &s->first) = x;
	s->last = x;
	if (!s->first_held)
		s->first_held = x;
	s->count++;
	s->live++;
	s->held++;
}

static void pass_open(struct http2_session *s)
{
	while (s->first_held && s->first_held->open)
		s->first_held = s->first_held->next;
}

static void stream_free(struct http2_session *s, struct http2_stream *x)
{
	if (s->first_held == x)
		s->first_held = x->next;
	pass_open(s);
	*(x->previous ? &x->previous->next : &s->first) = x->next;
	*(x->next ? &x->next->previous : &s->last) = x->previous;
	s->count--;
	free(x);
}

/* nghttp2 knows sent ones. */
static struct http2_stream *stream_find(const struct http2_session *s, int32_t id)
{
	struct http2_stream *x = nghttp2_session_get_stream_user_data(s->frames, id);
	if (!x)
		for (x = s->first_held; x && x->id != id; x = x->next)
			;
	return x;
}

static void stream_done(struct http2_session *s, struct http2_stream *x)
{
	x->ended = true;
	x->body = (struct unsent){0};
	s->live--;
	s->held -= !x->open;
}

static void stream_end(struct http2_session *s, struct http2_stream *x, enum http2_end how, uint32_t code)
{
	if (x->ended)
		return;
	stream_done(s, x);
	s->sink->ended(x->owner, how, code);
}

static int reset(struct http2_session *s, int32_t id, uint32_t code)
{
	return nghttp2_submit_rst_stream(s->frames, NGHTTP2_FLAG_NONE, id, code) ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

/* ---- events of nghttp2 ---- */

static struct slice slice_in(nghttp2_rcbuf *counted)
{
	nghttp2_vec bytes = nghttp2_rcbuf_get_buf(counted);
	return (struct slice){(const char *)bytes.base, bytes.len};
}

static int on_header(nghttp2_session *frames, const nghttp2_frame *frame, nghttp2_rcbuf *name, nghttp2_rcbuf *value,
                     uint8_t flags, void *data)
{
	struct http2_session *s = data;
	struct http2_stream *x = nghttp2_session_get_stream_user_data(frames, frame->hd.stream_id);
	struct slice left = slice_in(name), right = slice_in(value);
	(void)flags;
	if (!x || x->ended || frame->hd.type != NGHTTP2_HEADERS)
		return 0;
	/* a line is at most 64 KiB, nghttp2's limit */
	x->header_bytes += (uint32_t)(left.len + right.len) + HEADER_LINE_EXTRA;
	if (x->header_bytes > HTTP2_HEADERS_MOST) {
		stream_end(s, x, HTTP2_TOO_LARGE, NGHTTP2_CANCEL);
		return reset(s, x->id, NGHTTP2_CANCEL);
	}
	if (!left.len || left.data[0] != ':') {
		s->sink->header(x->owner, left, right);
		return 0;
	}
	/* :status is the only one; nghttp2 has checked it is three digits, and has put a NUL after them */
	int status = (int)strtol(right.data, NULL, 10);
	if (status < 100) {
		stream_end(s, x, HTTP2_MALFORMED, NGHTTP2_PROTOCOL_ERROR);
		return reset(s, x->id, NGHTTP2_PROTOCOL_ERROR);
	}
	x->answered = true;
	s->sink->status(x->owner, status);
	return 0;
}

static int on_data(nghttp2_session *frames, uint8_t flags, int32_t id, const uint8_t *bytes, size_t len, void *data)
{
	struct http2_session *s = data;
	struct http2_stream *x = nghttp2_session_get_stream_user_data(frames, id);
	(void)flags;
	if (!x || x->ended || s->sink->body(x->owner, (const char *)bytes, len) || x->ended)
		return 0;
	stream_end(s, x, HTTP2_STOPPED, NGHTTP2_CANCEL);
	return reset(s, id, NGHTTP2_CANCEL);
}

/* nghttp2 keeps requests beyond the server's limit until others end; after GOAWAY none of them is sent. */
static int end_held(struct http2_session *s)
{
	for (struct http2_stream *x = s->first_held; x; x = x->next) {
		stream_end(s, x, HTTP2_UNSEEN, NGHTTP2_REFUSED_STREAM);
		if (reset(s, x->id, NGHTTP2_CANCEL))
			return NGHTTP2_ERR_CALLBACK_FAILURE;
	}
	return 0;
}

static void note_settings(struct http2_session *s, const nghttp2_settings *settings)
{
	s->settled |= !(settings->hd.flags & NGHTTP2_FLAG_ACK);
	for (size_t i = 0; i < settings->niv; i++)
		if (settings->iv[i].settings_id == NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS)
			s->streams_most = settings->iv[i].value;
}

static int on_frame_received(nghttp2_session *frames, const nghttp2_frame *frame, void *data)
{
	struct http2_session *s = data;
	struct http2_stream *x = NULL;
	switch (frame->hd.type) {
	case NGHTTP2_SETTINGS:
		note_settings(s, &frame->settings);
		return 0;
	case NGHTTP2_GOAWAY:
		s->goaway = true;
		return end_held(s);
	case NGHTTP2_RST_STREAM:
	case NGHTTP2_HEADERS:
	case NGHTTP2_DATA:
		x = nghttp2_session_get_stream_user_data(frames, frame->hd.stream_id);
		break;
	}
	if (!x || x->ended)
		return 0;
	if (frame->hd.type == NGHTTP2_RST_STREAM) {
		x->reset = true; /* nghttp2 closes it next */
	} else if (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
		bool sent = x->sent;
		stream_end(s, x, HTTP2_COMPLETE, NGHTTP2_NO_ERROR);
		return sent ? 0 : reset(s, x->id, NGHTTP2_NO_ERROR);
	}
	return 0;
}

static int on_stream_closed(nghttp2_session *frames, int32_t id, uint32_t code, void *data)
{
	struct http2_session *s = data;
	struct http2_stream *x = nghttp2_session_get_stream_user_data(frames, id);
	if (!x)
		return 0;
	if (code == NGHTTP2_REFUSED_STREAM && !x->answered)
		stream_end(s, x, HTTP2_UNSEEN, code);
	else
		stream_end(s, x, x->reset || code == NGHTTP2_REFUSED_STREAM ? HTTP2_RESET : HTTP2_MALFORMED, code);
	stream_free(s, x);
	return 0;
}

/* The only GOAWAY sent is nghttp2's, for a server breaking the protocol. */
static void note_protocol_error(struct http2_session *s, const nghttp2_goaway *goaway)
{
	int len = goaway->opaque_data_len < 80 ? (int)goaway->opaque_data_len : 80;
	snprintf(s->protocol_error, sizeof s->protocol_error, "%s%s%.*s", http2_code_name(goaway->error_code),
	         len ? ": " : "", len, (const char *)goaway->opaque_data);
	if (!s->error)
		s->error = s->protocol_error;
}

static int on_frame_sent(nghttp2_session *frames, const nghttp2_frame *frame, void *data)
{
	struct http2_session *s = data;
	struct http2_stream *x;
	if (frame->hd.type == NGHTTP2_GOAWAY)
		note_protocol_error(s, &frame->goaway);
	if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
		return 0;
	x = nghttp2_session_get_stream_user_data(frames, frame->hd.stream_id);
	if (!x)
		return 0;
	if (!x->open) {
		s->held -= !x->ended;
		x->open = true;
		pass_open(s);
	}
	if (!x->ended && (frame->hd.flags & NGHTTP2_FLAG_END_STREAM)) {
		x->sent = true;
		s->sink->sent(x->owner);
	}
	return 0;
}

/* ---- bodies of requests, copied once: into the output ---- */

static ssize_t offer_body(nghttp2_session *frames, int32_t id, uint8_t *to, size_t most, uint32_t *flags,
                          nghttp2_data_source *source, void *data)
{
	const struct http2_stream *x = source->ptr;
	(void)frames, (void)id, (void)to, (void)data;
	if (x->ended)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	*flags |= NGHTTP2_DATA_FLAG_NO_COPY;
	if (unsent_len(&x->body) <= most)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return (ssize_t)(unsent_len(&x->body) < most ? unsent_len(&x->body) : most);
}

/* A frame finding no room may be asked for again when its stream has ended: then it is not sent. */
static int copy_body(nghttp2_session *frames, nghttp2_frame *frame, const uint8_t *header, size_t len,
                     nghttp2_data_source *source, void *data)
{
	struct http2_session *s = data;
	struct http2_stream *x = source->ptr;
	(void)frames, (void)frame;
	if (x->ended)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	if (s->output.len >= HTTP2_OUTPUT_PIECE)
		return NGHTTP2_ERR_WOULDBLOCK;
	size_t head = s->output.len;
	buffer_append(&s->output, header, 9);
	char *to = buffer_reserve(&s->output, len);
	if (!to)
		return NGHTTP2_ERR_CALLBACK_FAILURE;
	if (unsent_read(&x->body, to, len) < 0) {
		s->output.len = head;
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	}
	s->output.len += len;
	unsent_advance(&x->body, len);
	return 0;
}

/* ---- opening ---- */

static nghttp2_option *new_options(void)
{
	nghttp2_option *o;
	if (nghttp2_option_new(&o))
		return NULL;
	nghttp2_option_set_peer_max_concurrent_streams(o, UINT32_MAX); /* until its SETTINGS come */
	nghttp2_option_set_max_reserved_remote_streams(o, 0);
	nghttp2_option_set_max_send_header_block_length(o, 2 * HTTP2_REQUEST_HEADERS_MOST);
	nghttp2_option_set_max_continuations(o, CONTINUATIONS);
	return o;
}

static nghttp2_session_callbacks *new_callbacks(void)
{
	nghttp2_session_callbacks *c;
	if (nghttp2_session_callbacks_new(&c))
		return NULL;
	nghttp2_session_callbacks_set_on_header_callback2(c, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, on_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(c, on_frame_received);
	nghttp2_session_callbacks_set_on_stream_close_callback(c, on_stream_closed);
	nghttp2_session_callbacks_set_on_frame_send_callback(c, on_frame_sent);
	nghttp2_session_callbacks_set_send_data_callback(c, copy_body);
	return c;
}

static int open_frames(struct http2_session *s)
{
	static const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
		{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, WINDOW},
		{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, HTTP2_HEADERS_MOST},
	};
	nghttp2_option *options = new_options();
	nghttp2_session_callbacks *callbacks = new_callbacks();
	bool good = options && callbacks &&
	            !nghttp2_session_client_new3(&s->frames, callbacks, s, options, http2_memory()) &&
	            !nghttp2_submit_settings(s->frames, NGHTTP2_FLAG_NONE, settings, sizeof settings / sizeof *settings) &&
	            !nghttp2_session_set_local_window_size(s->frames, NGHTTP2_FLAG_NONE, 0, WINDOW);
	nghttp2_option_del(options);
	nghttp2_session_callbacks_del(callbacks);
	if (!good)
		memory_note_failure(); /* options and callbacks take no allocator */
	return good ? 0 : -1;
}

int http2_open(struct http2_session **session, const struct http2_sink *sink)
{
	struct http2_session *s = calloc(1, sizeof *s);
	*session = NULL;
	if (!s)
		return -1;
	s->sink = sink;
	s->streams_most = UINT32_MAX;
	if (open_frames(s) < 0) {
		http2_free(s);
		return -1;
	}
	*session = s;
	return 0;
}

void http2_free(struct http2_session *s)
{
	if (!s)
		return;
	nghttp2_session_del(s->frames);
	while (s->first)
		stream_free(s, s->first);
	buffer_release(&s->output);
	free(s->fields);
	free(s);
}

/* ---- requests ---- */

static bool add_field(struct http2_session *s, struct slice name, struct slice value)
{
	if (!array_room(s->fields, s->fields_cap, s->fields_count + 1))
		return false;
	/* nghttp2 copies both, names in lower case, before it returns */
	s->fields[s->fields_count++] = (nghttp2_nv){(uint8_t *)(uintptr_t)name.data, (uint8_t *)(uintptr_t)value.data,
	                                            name.len, value.len, 0};
	s->fields_bytes += name.len + value.len + HEADER_LINE_EXTRA;
	return s->fields_bytes <= HTTP2_REQUEST_HEADERS_MOST;
}

static bool add_text(struct http2_session *s, const char *name, struct slice value)
{
	return add_field(s, slice_of(name), value);
}

/* "Name: value" or "Name;". The value is absent if the line only takes a default back ("Name:"). */
static struct slice split_line(const char *line, struct slice *value)
{
	size_t len = strcspn(line, ":;");
	const char *from = line + len + (line[len] != '\0');
	*value = (struct slice){0};
	from += strspn(from, " \t");
	if (*from && line[len] == ':') {
		*value = slice_of(from);
		while (value->len && strchr(" \t", from[value->len - 1]))
			value->len--;
	} else if (line[len] == ';') {
		value->data = from;
	}
	return (struct slice){line, len};
}

static bool is_named(struct slice name, const char *text)
{
	return name.len == strlen(text) && !strncasecmp(name.data, text, name.len);
}

/* The line of this name; NULL: there is none. */
static const char *line_of(const struct curl_slist *headers, const char *name)
{
	size_t len = strlen(name);
	for (; headers; headers = headers->next)
		if (!strncasecmp(headers->data, name, len) && (headers->data[len] == ':' || headers->data[len] == ';'))
			return headers->data;
	return NULL;
}

static bool contains_word(struct slice text, const char *word)
{
	size_t len = strlen(word);
	for (size_t i = 0; i + len <= text.len; i++)
		if (!strncasecmp(text.data + i, word, len))
			return true;
	return false;
}

/* RFC 9113 section 8.2.2. */
static bool add_line(struct http2_session *s, const char *line)
{
	static const char *const left_out[] = {
		"host", "connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade", NULL};
	struct slice value, name = split_line(line, &value);
	if (!value.data || !name.len)
		return true;
	for (size_t i = 0; left_out[i]; i++)
		if (is_named(name, left_out[i]))
			return true;
	if (is_named(name, "te"))
		return !contains_word(value, "trailers") || add_text(s, "te", slice_of("trailers"));
	return add_field(s, name, value);
}

static bool add_fields(struct http2_session *s, const struct http2_request *r, char *length)
{
	const char *host = line_of(r->headers, "host");
	struct slice authority = {0};
	bool good;
	if (host)
		split_line(host, &authority);
	if (!authority.len)
		authority = r->authority;
	s->fields_count = s->fields_bytes = 0;
	good = add_text(s, ":method", slice_of(r->method)) && add_text(s, ":path", r->path) &&
	       add_text(s, ":scheme", slice_of(r->scheme)) && add_text(s, ":authority", authority);
	if (good && r->user_agent.data && !line_of(r->headers, "user-agent"))
		good = add_text(s, "user-agent", r->user_agent);
	if (good && r->authorization.data && !line_of(r->headers, "authorization"))
		good = add_text(s, "authorization", r->authorization);
	if (good && !line_of(r->headers, "accept"))
		good = add_text(s, "accept", slice_of("*/*"));
	for (const struct curl_slist *line = r->headers; good && line; line = line->next)
		good = add_line(s, line->data);
	if (good && (r->body.text.data || r->body.mixed) && !line_of(r->headers, "content-length"))
		good = add_text(s, "content-length", slice_of(length));
	return good;
}

int32_t http2_request(struct http2_session *s, void *stream, const struct http2_request *request)
{
	char length[24];
	nghttp2_data_provider body = {.read_callback = offer_body};
	struct http2_stream *x;
	if (s->error || !nghttp2_session_check_request_allowed(s->frames))
		return -1;
	x = malloc(sizeof *x);
	if (!x)
		return -1;
	*x = (struct http2_stream){.owner = stream, .body = request->body, .id = -1};
	body.source.ptr = x;
	snprintf(length, sizeof length, "%zu", unsent_len(&request->body));
	if (add_fields(s, request, length))
		x->id = nghttp2_submit_request(s->frames, NULL, s->fields, s->fields_count,
		                               unsent_len(&request->body) ? &body : NULL, x);
	if (x->id < 0) {
		free(x);
		return -1;
	}
	stream_append(s, x);
	return x->id;
}

void http2_cancel(struct http2_session *s, int32_t id)
{
	struct http2_stream *x = stream_find(s, id);
	if (!x || x->ended)
		return;
	stream_done(s, x);
	if (reset(s, id, NGHTTP2_CANCEL) && !s->error)
		s->error = no_memory;
}

/* ---- bytes ---- */

static bool fail(struct http2_session *s, const char *why)
{
	if (!s->error)
		s->error = why;
	return false;
}

static const char *failure_text(ssize_t result)
{
	/* our callbacks fail only for lack of memory */
	return result == NGHTTP2_ERR_NOMEM || result == NGHTTP2_ERR_CALLBACK_FAILURE ? no_memory
	                                                                             : nghttp2_strerror((int)result);
}

/* Clear words for a server without HTTP/2: the most frequent mistake with prior knowledge. */
static bool is_http1(struct http2_session *s, const char *bytes, size_t len)
{
	for (size_t i = 0; i < len && s->http1 < strlen(HTTP1); i++)
		s->http1 = bytes[i] == HTTP1[s->http1] ? s->http1 + 1 : UCHAR_MAX;
	return s->http1 == strlen(HTTP1);
}

bool http2_input(struct http2_session *s, const char *bytes, size_t len)
{
	ssize_t used;
	if (s->error)
		return false;
	if (!s->settled && is_http1(s, bytes, len))
		return fail(s, "the server speaks HTTP/1.1");
	s->within = true;
	used = nghttp2_session_mem_recv(s->frames, (const uint8_t *)bytes, len);
	s->within = false;
	if (used < 0)
		return fail(s, failure_text(used));
	if (nghttp2_session_get_outbound_queue_size(s->frames) > FRAMES_WAIT + FRAMES_WAIT_EACH * s->count)
		return fail(s, "the server sends frames faster than it reads the answers to them");
	return true;
}

/* Fills the output from its beginning. A header block is never cut, so a request is either sent or held. */
static ssize_t fill_output(struct http2_session *s)
{
	const uint8_t *frame;
	ssize_t len = 0;
	buffer_clear(&s->output);
	for (bool whole = true; s->output.len < HTTP2_OUTPUT_PIECE || !whole;) {
		len = nghttp2_session_mem_send(s->frames, &frame);
		if (len <= 0)
			break;
		whole = (frame[3] != NGHTTP2_HEADERS && frame[3] != NGHTTP2_CONTINUATION) ||
		        frame[4] & NGHTTP2_FLAG_END_HEADERS;
		buffer_append(&s->output, frame, (size_t)len);
	}
	return s->output.failed ? NGHTTP2_ERR_NOMEM : len;
}

int64_t http2_output(struct http2_session *s, const char **bytes)
{
	ssize_t result;
	*bytes = NULL;
	if (s->within)
		return 0;
	if (s->error)
		return -1;
	s->within = true;
	result = fill_output(s);
	s->within = false;
	if (result < 0) {
		fail(s, failure_text(result));
		return -1;
	}
	if (!s->output.len && s->output.cap > KEPT_WHILE_IDLE)
		buffer_release(&s->output);
	*bytes = s->output.data;
	return (int64_t)s->output.len;
}

const char *http2_error(const struct http2_session *s)
{
	return s->error;
}

/* ---- state of the connection ---- */

bool http2_settled(const struct http2_session *s)
{
	return s->settled;
}

uint32_t http2_streams_most(const struct http2_session *s)
{
	return s->streams_most;
}

bool http2_going_away(const struct http2_session *s)
{
	return s->goaway || nghttp2_session_get_next_stream_id(s->frames) > INT32_MAX;
}

size_t http2_streams(const struct http2_session *s)
{
	return s->live;
}

size_t http2_held(const struct http2_session *s)
{
	return s->held;
}

const char *http2_code_name(uint32_t code)
{
	return code <= NGHTTP2_HTTP_1_1_REQUIRED ? nghttp2_http2_strerror(code) : "unknown error";
}
