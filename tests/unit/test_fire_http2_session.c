/* HTTP/2 against a server in the same process: nghttp2's own server side, or frames made by hand. */
#include "unit.h"

#include "http/http2_session.h"

#include <nghttp2/nghttp2.h>

#define CALLS 128

/* A request as the client sees it. */
struct call {
	struct buffer told; /* "status 200\nname: value\n" and so on */
	size_t body_bytes;
	int32_t id;
	int sent, ended, code;
	enum http2_end how;
	bool refuse_body;
	void (*on_status)(struct call *call, int status);
	void (*on_ended)(struct call *call);
};

static struct peers {
	struct http2_session *client;
	nghttp2_session *server;
	struct buffer seen;      /* the server's view of requests */
	struct buffer to_server; /* all of it */
	struct buffer to_client; /* all of it */
	size_t body_seen;        /* bytes */
	size_t largest_piece;    /* the client's largest output */
	bool in_output;
	struct call calls[CALLS];
	size_t count;
} peers;

/* ---- the client's side ---- */

static void on_status(void *stream, int status)
{
	struct call *c = stream;
	assert_false(c->ended);
	buffer_format(&c->told, "status %d\n", status);
	if (c->on_status)
		c->on_status(c, status);
}

static void on_header(void *stream, struct slice name, struct slice value)
{
	struct call *c = stream;
	assert_false(c->ended);
	if (c->told.len < 4096)
		buffer_format(&c->told, "%.*s: %.*s\n", (int)name.len, name.data, (int)value.len, value.data);
}

static bool on_body(void *stream, const char *bytes, size_t len)
{
	struct call *c = stream;
	const char *output;
	assert_int_equal(http2_output(peers.client, &output), 0); /* not within */
	assert_false(c->ended);
	for (size_t i = 0; i < len; i++)
		if ((size_t)bytes[i] != 'a' + (c->body_bytes + i) % 23)
			fail();
	c->body_bytes += len;
	return !c->refuse_body;
}

static void on_sent(void *stream)
{
	struct call *c = stream;
	assert_true(peers.in_output);
	assert_false(c->ended);
	c->sent++;
}

static void on_ended(void *stream, enum http2_end how, uint32_t code)
{
	struct call *c = stream;
	c->ended++;
	c->how = how;
	c->code = (int)code;
	assert_int_equal(c->ended, 1);
	if (c->on_ended)
		c->on_ended(c);
}

static const struct http2_sink sink = {on_status, on_header, on_body, on_sent, on_ended};

/* ---- the server's side ---- */

static int saw_header(nghttp2_session *server, const nghttp2_frame *frame, nghttp2_rcbuf *name, nghttp2_rcbuf *value,
                      uint8_t flags, void *data)
{
	(void)server, (void)flags, (void)data;
	if (peers.seen.len < 1 << 16)
		buffer_format(&peers.seen, "%d %s: %s\n", frame->hd.stream_id, (const char *)nghttp2_rcbuf_get_buf(name).base,
		              (const char *)nghttp2_rcbuf_get_buf(value).base);
	return 0;
}

static int saw_data(nghttp2_session *server, uint8_t flags, int32_t id, const uint8_t *bytes, size_t len, void *data)
{
	(void)server, (void)flags, (void)id, (void)data;
	for (size_t i = 0; i < len; i++)
		if (bytes[i] != 'A' + (peers.body_seen + i) % 19)
			fail();
	peers.body_seen += len;
	return 0;
}

static int saw_frame(nghttp2_session *server, const nghttp2_frame *frame, void *data)
{
	(void)server, (void)data;
	if (frame->hd.type == NGHTTP2_RST_STREAM)
		buffer_format(&peers.seen, "%d reset %u\n", frame->hd.stream_id, frame->rst_stream.error_code);
	if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
	    frame->hd.flags & NGHTTP2_FLAG_END_STREAM) {
		buffer_format(&peers.seen, "%d end\n", frame->hd.stream_id);
	}
	return 0;
}

/* Its responses are not checked, so it can send bad ones. */
static void server_open(void)
{
	nghttp2_session_callbacks *c;
	nghttp2_option *o;
	assert_int_equal(nghttp2_session_callbacks_new(&c), 0);
	assert_int_equal(nghttp2_option_new(&o), 0);
	nghttp2_option_set_no_http_messaging(o, 1);
	nghttp2_option_set_max_send_header_block_length(o, 1 << 24);
	nghttp2_session_callbacks_set_on_header_callback2(c, saw_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(c, saw_data);
	nghttp2_session_callbacks_set_on_frame_recv_callback(c, saw_frame);
	assert_int_equal(nghttp2_session_server_new2(&peers.server, c, NULL, o), 0);
	nghttp2_option_del(o);
	nghttp2_session_callbacks_del(c);
}

static void server_settings(uint32_t streams, uint32_t window)
{
	nghttp2_settings_entry entries[] = {{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, streams},
	                                    {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, window}};
	assert_int_equal(nghttp2_submit_settings(peers.server, 0, entries, 2), 0);
}

/* A response's body. */
struct answer {
	size_t left, at;
	const char *trailer; /* its value; NULL: none */
	bool endless;        /* END_STREAM does not come */
};

static nghttp2_nv field(const char *name, const char *value)
{
	return (nghttp2_nv){(uint8_t *)(uintptr_t)name, (uint8_t *)(uintptr_t)value, strlen(name), strlen(value), 0};
}

static ssize_t make_body(nghttp2_session *server, int32_t id, uint8_t *to, size_t most, uint32_t *flags,
                         nghttp2_data_source *source, void *data)
{
	struct answer *a = source->ptr;
	size_t len = a->left < most ? a->left : most;
	(void)data;
	if (!a->left && a->endless)
		return NGHTTP2_ERR_DEFERRED;
	for (size_t i = 0; i < len; i++)
		to[i] = (uint8_t)('a' + (a->at + i) % 23);
	a->at += len;
	a->left -= len;
	if (a->left || a->endless)
		return (ssize_t)len;
	*flags |= NGHTTP2_DATA_FLAG_EOF;
	if (a->trailer) {
		nghttp2_nv trailer = field("grpc-status", a->trailer);
		*flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
		assert_int_equal(nghttp2_submit_trailer(server, id, &trailer, 1), 0);
	}
	return (ssize_t)len;
}

/* "name: value" lines; `a` NULL: END_STREAM with them. */
static void respond(int32_t id, const char *const *lines, struct answer *a)
{
	nghttp2_nv fields[16];
	char text[16][128];
	size_t n = 0;
	nghttp2_data_provider body = {.source.ptr = a, .read_callback = make_body};
	for (; lines[n]; n++) {
		char *colon = strstr(strcpy(text[n], lines[n]), ": ");
		*colon = '\0';
		fields[n] = field(text[n], colon + 2);
	}
	assert_int_equal(nghttp2_submit_response(peers.server, id, fields, n, a ? &body : NULL), 0);
}

#define LINES(...) ((const char *const[]){__VA_ARGS__, NULL})
#define OK         LINES(":status: 200", "content-type: text/plain")

/* ---- between them ---- */

static void peers_open(void)
{
	peers = (struct peers){0};
	assert_int_equal(http2_open(&peers.client, &sink), 0);
	server_open();
}

static void calls_clear(void)
{
	for (size_t i = 0; i < peers.count; i++)
		buffer_release(&peers.calls[i].told);
	memset(peers.calls, 0, sizeof peers.calls);
	peers.count = 0;
}

static void peers_close(void)
{
	http2_free(peers.client);
	nghttp2_session_del(peers.server);
	calls_clear();
	buffer_release(&peers.seen);
	buffer_release(&peers.to_server);
	buffer_release(&peers.to_client);
}

/* One piece of the client's; its length, 0 or -1. */
static int64_t client_says(void)
{
	const char *bytes;
	peers.in_output = true;
	int64_t len = http2_output(peers.client, &bytes);
	peers.in_output = false;
	if (len <= 0)
		return len;
	if ((size_t)len > peers.largest_piece)
		peers.largest_piece = (size_t)len;
	buffer_append(&peers.to_server, bytes, (size_t)len);
	if (peers.server)
		assert_int_equal(nghttp2_session_mem_recv(peers.server, (const uint8_t *)bytes, (size_t)len), len);
	return len;
}

static ssize_t server_says(void)
{
	const uint8_t *bytes;
	ssize_t len = nghttp2_session_mem_send(peers.server, &bytes);
	assert_true(len >= 0);
	buffer_append(&peers.to_client, bytes, (size_t)len);
	assert_true(len == 0 || http2_input(peers.client, (const char *)bytes, (size_t)len));
	return len;
}

static void peers_settled(uint32_t streams, uint32_t window)
{
	peers_open();
	server_settings(streams, window);
	while (server_says() > 0)
		;
}

/* Until neither has more to say. */
static void talk(void)
{
	for (bool more = true; more;) {
		more = false;
		while (client_says() > 0)
			more = true;
		while (server_says() > 0)
			more = true;
	}
}

static struct call *call_with(const struct http2_request *request)
{
	struct call *c = &peers.calls[peers.count++];
	assert_true(peers.count <= CALLS);
	c->id = http2_request(peers.client, c, request);
	return c;
}

static struct http2_request plain(void)
{
	return (struct http2_request){
		.method = "POST",
		.scheme = "http",
		.authority = slice_of("server:80"),
		.path = slice_of("/v1"),
		.body.text = slice_of(""),
	};
}

static struct call *call(void)
{
	struct http2_request r = plain();
	struct call *c = call_with(&r);
	assert_true(c->id > 0);
	return c;
}

static void ended_as(const struct call *c, enum http2_end how, int code)
{
	assert_int_equal(c->ended, 1);
	assert_int_equal(c->how, how);
	assert_int_equal(c->code, code);
}

static bool saw(const char *text)
{
	return peers.seen.data && strstr(peers.seen.data, text);
}

/* ---- requests ---- */

static struct curl_slist *lines_of(const char *const *lines)
{
	struct curl_slist *list = NULL;
	for (; *lines; lines++)
		list = curl_slist_append(list, *lines);
	return list;
}

static void request_is(const char *const *lines, struct slice body, const char *expected)
{
	struct http2_request r = plain();
	struct curl_slist *list = lines_of(lines);
	r.user_agent = slice_of("ipf-fire/1");
	r.authorization = slice_of("Basic QTpi");
	r.headers = list;
	r.body.text = body;
	peers_settled(100, 65535);
	struct call *c = call_with(&r);
	curl_slist_free_all(list);
	talk();
	assert_int_equal(c->sent, 1);
	assert_int_equal(c->ended, 0);
	assert_string_equal(peers.seen.data, expected);
	peers_close();
}

#define PSEUDO(authority) "1 :method: POST\n1 :path: /v1\n1 :scheme: http\n1 :authority: " authority "\n"

static void test_headers_of_requests(void **state)
{
	(void)state;
	request_is(
		LINES("Content-Type: application/json", "X-Empty;", "Expect:", "X-Two:  a b \t"), slice_of("A"),
		PSEUDO(
			"server:80") "1 user-agent: ipf-fire/1\n1 authorization: Basic QTpi\n1 accept: */*\n1 content-type: application/json\n"
						 "1 x-empty: \n1 x-two: a b\n1 content-length: 1\n1 end\n");
	request_is(
		LINES("Host: other", "TE: trailers, deflate", "Connection: close", "Keep-Alive: 5", "Upgrade: h3",
	          "Proxy-Connection: x", "Transfer-Encoding: chunked", "ACCEPT: text/plain"),
		slice_of(""),
		PSEUDO(
			"other") "1 user-agent: ipf-fire/1\n1 authorization: Basic QTpi\n1 te: trailers\n1 accept: text/plain\n1 content-length: "
					 "0\n1 end\n");
	request_is(LINES("User-Agent:", "Accept:", "TE: gzip", "Content-Length:", "Authorization:"), slice_of("A"),
	           PSEUDO("server:80") "1 end\n");
	request_is(LINES("User-Agent: me", "Accept;", "authorization: Bearer x"), (struct slice){0},
	           PSEUDO("server:80") "1 user-agent: me\n1 accept: \n1 authorization: Bearer x\n1 end\n");
}

/* Larger than a frame, in HEADERS and CONTINUATION; and larger than the limit. */
static void test_large_headers(void **state)
{
	struct http2_request r = plain();
	struct curl_slist list = {NULL, NULL};
	char *line = malloc(HTTP2_REQUEST_HEADERS_MOST + 1);
	(void)state;
	assert_non_null(line);
	memset(line, 'x', HTTP2_REQUEST_HEADERS_MOST);
	line[1] = ':';
	list.data = line;
	r.headers = &list;
	peers_settled(100, 65535);
	line[60000] = '\0'; /* nghttp2 reads 64 KiB at most */
	struct call *c = call_with(&r);
	talk();
	assert_int_equal(c->sent, 1);
	assert_true(saw("1 end\n"));
	line[60000] = 'x';
	line[1 << 20] = '\0';
	assert_int_equal(call_with(&r)->id, 3);
	client_says();
	assert_int_equal(peers.calls[1].sent, 1);
	line[1 << 20] = 'x';
	line[HTTP2_REQUEST_HEADERS_MOST] = '\0';
	assert_int_equal(call_with(&r)->id, -1);
	assert_int_equal(http2_streams(peers.client), 2);
	free(line);
	peers_close();
}

/* Walks the frames the client sent: is END_STREAM of stream `id` in the bytes from `from`? */
static bool end_stream_after(size_t from, int32_t id)
{
	size_t at = 24;
	while (at + 9 <= peers.to_server.len) {
		const uint8_t *f = (const uint8_t *)peers.to_server.data + at;
		if (f[3] <= 1 && f[4] & 1 && (f[7] << 8 | f[8]) == id && at >= from)
			return true;
		at += 9 + (size_t)(f[0] << 16 | f[1] << 8 | f[2]);
	}
	return false;
}

/* The server's window makes it come in many pieces; `sent` comes with the last one. */
static void large_bodies(size_t len, uint32_t window)
{
	struct http2_request r = plain();
	char *body = malloc(len);
	size_t total = 0;
	assert_non_null(body);
	for (size_t i = 0; i < len; i++)
		body[i] = (char)('A' + i % 19);
	r.body.text = (struct slice){body, len};
	peers_settled(10, window);
	call_with(&r);
	for (bool more = true; more;) {
		size_t before = peers.to_server.len;
		int sent = peers.calls[0].sent;
		more = client_says() > 0;
		assert_int_equal(peers.calls[0].sent - sent, end_stream_after(before, 1));
		while (server_says() > 0)
			more = true;
	}
	total = peers.body_seen;
	assert_int_equal(total, len);
	assert_int_equal(peers.calls[0].sent, 1);
	assert_true(peers.largest_piece <= HTTP2_OUTPUT_PIECE + 16384 + 9);
	free(body);
	peers_close();
}

static void test_large_bodies(void **state)
{
	(void)state;
	large_bodies(3 << 20, 65535);
	large_bodies(3 << 20, 1 << 24);
	large_bodies(65536, 16384);
	large_bodies(2000, 1);
}

/* ---- responses ---- */

static void test_responses(void **state)
{
	struct answer a = {.left = 100000, .trailer = "0"}, b = {.left = 0}, d = {.left = 0, .trailer = "5"};
	nghttp2_nv early[] = {field(":status", "103"), field("link", "x")};
	(void)state;
	peers_settled(100, 65535);
	struct call *body = call(), *empty = call(), *only = call(), *trailers = call();
	talk();
	assert_int_equal(nghttp2_submit_headers(peers.server, 0, 1, NULL, early, 2, NULL), 0);
	respond(1, OK, &a);
	respond(3, OK, &b);
	respond(5, LINES(":status: 200", "grpc-status: 12"), NULL);
	respond(7, OK, &d);
	assert_int_equal(http2_streams(peers.client), 4);
	talk();
	assert_string_equal(body->told.data, "status 103\nlink: x\nstatus 200\ncontent-type: text/plain\ngrpc-status: 0\n");
	assert_int_equal(body->body_bytes, 100000);
	assert_string_equal(empty->told.data, "status 200\ncontent-type: text/plain\n");
	assert_string_equal(only->told.data, "status 200\ngrpc-status: 12\n");
	assert_string_equal(trailers->told.data, "status 200\ncontent-type: text/plain\ngrpc-status: 5\n");
	for (int i = 0; i < 4; i++)
		ended_as(&peers.calls[i], HTTP2_COMPLETE, 0);
	assert_int_equal(http2_streams(peers.client), 0);
	assert_false(saw("reset"));
	assert_null(http2_error(peers.client));
	peers_close();
}

static void test_resets(void **state)
{
	struct answer a = {.left = 10, .endless = true};
	(void)state;
	peers_settled(100, 65535);
	struct call *c[4] = {call(), call(), call(), call()};
	talk();
	nghttp2_submit_rst_stream(peers.server, 0, 1, NGHTTP2_REFUSED_STREAM);
	nghttp2_submit_rst_stream(peers.server, 0, 3, NGHTTP2_INTERNAL_ERROR);
	respond(5, OK, &a);
	talk();
	nghttp2_submit_rst_stream(peers.server, 0, 5, NGHTTP2_REFUSED_STREAM);
	nghttp2_submit_rst_stream(peers.server, 0, 7, NGHTTP2_NO_ERROR);
	talk();
	ended_as(c[0], HTTP2_UNSEEN, NGHTTP2_REFUSED_STREAM);
	ended_as(c[1], HTTP2_RESET, NGHTTP2_INTERNAL_ERROR);
	ended_as(c[2], HTTP2_RESET, NGHTTP2_REFUSED_STREAM); /* it was seen: a response has begun */
	ended_as(c[3], HTTP2_RESET, NGHTTP2_NO_ERROR);
	assert_null(http2_error(peers.client));
	peers_close();
}

/* The server answers before it has read the request, with and without a reset. */
static void early_response(bool with_reset)
{
	static char body[1 << 20];
	struct http2_request r = plain();
	struct answer a = {.left = 20};
	memset(body, 'A', 1); /* not looked at: the server's window holds it back */
	r.body.text = (struct slice){body, sizeof body};
	peers_settled(10, 0);
	struct call *c = call_with(&r);
	talk();
	assert_false(c->sent);
	respond(1, LINES(":status: 413"), &a);
	while (server_says() > 0)
		;
	ended_as(c, HTTP2_COMPLETE, 0);
	if (with_reset) {
		nghttp2_submit_rst_stream(peers.server, 0, 1, NGHTTP2_NO_ERROR);
		while (server_says() > 0)
			;
	}
	talk();
	assert_true(with_reset || saw("1 reset 0\n"));
	assert_false(saw("1 end"));
	assert_false(c->sent);
	assert_int_equal(http2_streams(peers.client), 0);
	call();
	talk();
	assert_true(saw("3 end"));
	peers_close();
}

static void test_early_responses(void **state)
{
	(void)state;
	early_response(false);
	early_response(true);
}

/* ---- GOAWAY and the limit of streams ---- */

static void test_goaway(void **state)
{
	struct http2_request r = plain();
	struct answer a = {.left = 5};
	(void)state;
	peers_settled(4, 65535);
	struct call *c[6];
	for (int i = 0; i < 6; i++)
		c[i] = call();
	talk();
	assert_int_equal(http2_held(peers.client), 2);
	nghttp2_submit_goaway(peers.server, 0, 3, NGHTTP2_ENHANCE_YOUR_CALM, NULL, 0);
	talk();
	for (int i = 2; i < 6; i++)
		ended_as(c[i], HTTP2_UNSEEN, NGHTTP2_REFUSED_STREAM);
	assert_false(c[0]->ended || c[1]->ended);
	assert_true(http2_going_away(peers.client));
	assert_int_equal(call_with(&r)->id, -1);
	respond(1, OK, NULL);
	respond(3, OK, &a);
	talk();
	ended_as(c[0], HTTP2_COMPLETE, 0);
	ended_as(c[1], HTTP2_COMPLETE, 0);
	assert_int_equal(http2_streams(peers.client) + http2_held(peers.client), 0);
	assert_false(saw("\n9 "));
	assert_null(http2_error(peers.client));
	peers_close();
}

/* First with all streams, as a notice, then with the last one that it takes. */
static void test_graceful_goaway(void **state)
{
	(void)state;
	peers_settled(100, 65535);
	struct call *a = call(), *b = call();
	talk();
	nghttp2_submit_shutdown_notice(peers.server);
	struct call *late = call();
	while (server_says() > 0)
		;
	ended_as(late, HTTP2_UNSEEN, NGHTTP2_REFUSED_STREAM); /* never sent */
	talk();
	assert_false(a->ended || b->ended);
	nghttp2_submit_goaway(peers.server, 0, 1, NGHTTP2_NO_ERROR, NULL, 0);
	talk();
	ended_as(b, HTTP2_UNSEEN, NGHTTP2_REFUSED_STREAM);
	respond(1, OK, NULL);
	talk();
	ended_as(a, HTTP2_COMPLETE, 0);
	assert_false(saw("5 "));
	peers_close();
}

static void test_limit_of_streams(void **state)
{
	(void)state;
	peers_open();
	server_settings(4, 65535);
	assert_false(http2_settled(peers.client));
	assert_true(http2_streams_most(peers.client) == UINT32_MAX);
	struct call *c[6];
	for (int i = 0; i < 4; i++)
		c[i] = call();
	assert_int_equal(http2_held(peers.client), 4);
	client_says(); /* the server's SETTINGS are not waited for */
	assert_int_equal(http2_held(peers.client), 0);
	talk();
	assert_true(http2_settled(peers.client));
	assert_int_equal(http2_streams_most(peers.client), 4);
	server_settings(2, 65535);
	server_says();
	assert_int_equal(http2_streams_most(peers.client), 2);
	c[4] = call();
	c[5] = call();
	talk();
	assert_int_equal(http2_held(peers.client), 2);
	assert_false(saw("9 "));
	respond(1, OK, NULL);
	respond(3, OK, NULL);
	talk();
	assert_int_equal(http2_held(peers.client), 2);
	respond(5, OK, NULL);
	talk();
	assert_int_equal(http2_held(peers.client), 1);
	assert_true(saw("9 end") && !saw("11 "));
	server_settings(100, 65535);
	talk();
	assert_int_equal(http2_held(peers.client), 0);
	assert_true(c[5]->sent && !c[5]->ended);
	peers_close();
}

/* ---- cancelling ---- */

static void test_cancel(void **state)
{
	struct answer a = {.left = 10, .endless = true};
	(void)state;
	peers_settled(2, 65535);
	struct call *c[4];
	for (int i = 0; i < 4; i++)
		c[i] = call();
	http2_cancel(peers.client, c[0]->id); /* before any of it was sent */
	talk();
	assert_false(saw("1 "));
	assert_int_equal(http2_held(peers.client), 1);
	http2_cancel(peers.client, c[3]->id); /* held back by the limit */
	respond(3, OK, &a);
	talk();
	http2_cancel(peers.client, c[1]->id);
	http2_cancel(peers.client, c[1]->id);
	http2_cancel(peers.client, 99);
	assert_int_equal(http2_streams(peers.client), 1);
	talk();
	assert_true(saw("3 reset 8\n") && !saw("7 "));
	respond(5, OK, NULL);
	talk();
	ended_as(c[2], HTTP2_COMPLETE, 0);
	for (int i = 0; i < 4; i++)
		assert_int_equal(c[i]->ended, i == 2);
	assert_int_equal(http2_streams(peers.client) + http2_held(peers.client), 0);
	peers_close();
}

/* Its body must not be read any more, although a frame of it waits. */
static void test_cancel_within_a_body(void **state)
{
	size_t len = 1 << 20;
	struct http2_request r = plain();
	char *body = malloc(len);
	(void)state;
	assert_non_null(body);
	for (size_t i = 0; i < len; i++)
		body[i] = (char)('A' + i % 19);
	r.body.text = (struct slice){body, len};
	peers_settled(100, 65535);
	server_settings(10, 1 << 24);
	nghttp2_submit_window_update(peers.server, 0, 0, 1 << 24);
	while (server_says() > 0)
		;
	struct call *c = call_with(&r);
	client_says();
	assert_true(peers.body_seen > 0 && !c->sent);
	http2_cancel(peers.client, c->id);
	free(body);
	talk();
	assert_true(saw("1 reset 8\n") && peers.body_seen < len);
	assert_int_equal(c->ended + c->sent, 0);
	peers_close();
}

static void cancel_others(struct call *c, int status)
{
	(void)c, (void)status;
	for (size_t i = 0; i < peers.count; i++)
		http2_cancel(peers.client, peers.calls[i].id);
}

static void call_again(struct call *c)
{
	(void)c;
	if (peers.count < 20)
		call()->on_ended = call_again;
}

static void test_calls_from_the_sink(void **state)
{
	struct answer a = {.left = 10};
	(void)state;
	peers_settled(100, 65535);
	struct call *c = call();
	call();
	c->on_status = cancel_others;
	talk();
	respond(1, OK, &a);
	respond(3, OK, NULL);
	talk();
	assert_string_equal(c->told.data, "status 200\n"); /* the other line of it is not reported */
	assert_int_equal(c->ended + peers.calls[1].ended, 0);
	calls_clear();
	call()->on_ended = call_again;
	for (int32_t id = 5; peers.count < 20 || !peers.calls[19].ended; id += 2) {
		talk();
		if (id % 4 == 1)
			respond(id, OK, NULL);
		else
			nghttp2_submit_rst_stream(peers.server, 0, id, NGHTTP2_REFUSED_STREAM);
		talk();
	}
	assert_int_equal(http2_streams(peers.client), 0);
	peers_close();
}

static void test_no_more_wanted(void **state)
{
	struct answer a = {.left = 100000};
	(void)state;
	peers_settled(100, 65535);
	struct call *c = call();
	c->refuse_body = true;
	talk();
	respond(1, OK, &a);
	talk();
	ended_as(c, HTTP2_STOPPED, NGHTTP2_CANCEL);
	assert_true(c->body_bytes <= 16384);
	assert_true(saw("1 reset 8\n"));
	peers_close();
}

/* ---- bad responses ---- */

static void malformed(const char *const *lines, size_t body, bool complete)
{
	struct answer a = {.left = body, .endless = !complete};
	peers_settled(100, 65535);
	struct call *c = call(), *other = call();
	talk();
	respond(1, lines, body || !complete ? &a : NULL);
	talk();
	ended_as(c, HTTP2_MALFORMED, NGHTTP2_PROTOCOL_ERROR);
	assert_true(saw("1 reset 1\n"));
	respond(3, OK, NULL);
	talk();
	ended_as(other, HTTP2_COMPLETE, 0);
	assert_null(http2_error(peers.client));
	peers_close();
}

static void test_malformed(void **state)
{
	(void)state;
	malformed(LINES(":status: 200", "content-length: 5"), 4, true);
	malformed(LINES(":status: 200", "content-length: 5"), 6, false);
	malformed(LINES(":status: 200", "content-length: 5"), 0, true);
	malformed(LINES(":status: 200", "content-length: 5", "content-length: 6"), 5, true);
	malformed(LINES(":status: 200", "content-length: many"), 5, true);
	malformed(LINES("content-type: text/plain"), 5, true);
	malformed(LINES("content-type: text/plain", ":status: 200"), 5, true);
	malformed(LINES(":status: 20"), 0, true);
	malformed(LINES(":status: 000"), 5, true);
	malformed(LINES(":status: 099"), 5, true);
	malformed(LINES(":status: 2x0"), 0, true);
	malformed(LINES(":status: 200", ":path: /"), 0, true);
	malformed(LINES(":status: 200", "connection: close"), 0, true);
	malformed(LINES(":status: 103"), 0, true);
}

/* A response's header lines are counted, whatever they are in. */
static void test_large_responses(void **state)
{
	static char line[3000];
	memset(line, 'x', sizeof line - 1);
	nghttp2_nv fields[400], early[] = {field(":status", "103"), field("link", line)};
	struct answer a = {.left = 10};
	(void)state;
	peers_settled(100, 65535);
	struct call *one = call(), *interim = call(), *good = call(), *bomb = call();
	talk();
	fields[0] = field(":status", "200");
	for (size_t i = 1; i < 400; i++) {
		fields[i] = field("x-line", line);
		fields[i].flags = NGHTTP2_NV_FLAG_NO_INDEX;
	}
	nghttp2_submit_response(peers.server, 1, fields, 100, NULL); /* 300 kB in 19 frames */
	for (int i = 0; i < 100; i++)
		nghttp2_submit_headers(peers.server, 0, 3, NULL, early, 2, NULL);
	respond(5, OK, &a);
	for (size_t i = 1; i < 400; i++)
		fields[i].flags = 0; /* one line, repeated by its index in the table */
	nghttp2_submit_response(peers.server, 7, fields, 400, NULL);
	talk();
	ended_as(one, HTTP2_TOO_LARGE, NGHTTP2_CANCEL);
	ended_as(interim, HTTP2_TOO_LARGE, NGHTTP2_CANCEL);
	ended_as(bomb, HTTP2_TOO_LARGE, NGHTTP2_CANCEL);
	ended_as(good, HTTP2_COMPLETE, 0);
	assert_int_equal(good->body_bytes, 10);
	assert_null(http2_error(peers.client));
	peers_close();
}

/* The windows are as large as can be, at once and for good. */
static void test_flow_control(void **state)
{
	struct answer a = {.left = (size_t)48 << 20};
	(void)state;
	peers_settled(100, 65535);
	struct call *c = call();
	talk();
	assert_int_equal(nghttp2_session_get_remote_window_size(peers.server), INT32_MAX);
	assert_int_equal(nghttp2_session_get_stream_remote_window_size(peers.server, 1), INT32_MAX);
	respond(1, OK, &a);
	while (server_says() > 0)
		buffer_clear(&peers.to_client); /* the client's answers are not needed for it */
	ended_as(c, HTTP2_COMPLETE, 0);
	assert_int_equal(c->body_bytes, 48 << 20);
	peers_close();
}

/* ---- servers that break the protocol, and those that flood ---- */

/* Input of the client's, in pieces; true: it was taken. */
static bool tell(const void *bytes, size_t len, size_t piece)
{
	for (size_t at = 0; at < len; at += piece)
		if (!http2_input(peers.client, (const char *)bytes + at, len - at < piece ? len - at : piece))
			return false;
	return true;
}

static void frame(struct buffer *to, size_t len, uint8_t type, uint8_t flags, uint32_t id)
{
	uint8_t head[] = {(uint8_t)(len >> 16), (uint8_t)(len >> 8), (uint8_t)len,       type,       flags,
	                  (uint8_t)(id >> 24),  (uint8_t)(id >> 16), (uint8_t)(id >> 8), (uint8_t)id};
	buffer_append(to, head, sizeof head);
	for (size_t i = 0; i < len; i++)
		buffer_byte(to, 0);
}

#define SETTINGS_FRAME(to) frame(to, 0, NGHTTP2_SETTINGS, 0, 0)

/* After the bytes, sooner or later, the connection is of no use, and is said to be for this reason. */
static void breaks(const struct buffer *bytes, size_t piece, const char *why)
{
	int64_t len = 0;
	peers = (struct peers){0};
	assert_int_equal(http2_open(&peers.client, &sink), 0);
	struct call *c = call();
	while (client_says() > 0)
		;
	if (tell(bytes->data, bytes->len, piece)) {
		while ((len = client_says()) > 0)
			;
		assert_int_equal(len, -1);
	}
	assert_non_null(http2_error(peers.client));
	assert_string_equal(http2_error(peers.client), why);
	assert_int_equal(c->ended, 0);
	assert_int_equal(http2_streams(peers.client), 1);
	struct http2_request r = plain();
	assert_int_equal(http2_request(peers.client, c, &r), -1);
	http2_cancel(peers.client, c->id);
	assert_false(tell("x", 1, 1));
	assert_int_equal(client_says(), -1);
	peers_close();
}

static void test_broken_protocol(void **state)
{
	static const char http1[] = "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n";
	struct buffer b = {0};
	(void)state;
	buffer_text(&b, http1);
	for (size_t piece = 7; piece <= b.len; piece++)
		breaks(&b, piece, "the server speaks HTTP/1.1");
	buffer_clear(&b);
	frame(&b, 8, NGHTTP2_PING, 0, 0);
	breaks(&b, 100, "PROTOCOL_ERROR: SETTINGS expected");
	buffer_clear(&b);
	SETTINGS_FRAME(&b);
	frame(&b, 4, NGHTTP2_DATA, 0, 0);
	breaks(&b, 1, "PROTOCOL_ERROR: DATA: stream_id == 0");
	buffer_clear(&b);
	SETTINGS_FRAME(&b);
	frame(&b, 20000, NGHTTP2_DATA, 0, 1);
	breaks(&b, 100, "FRAME_SIZE_ERROR: too large frame size");
	buffer_clear(&b);
	SETTINGS_FRAME(&b);
	frame(&b, 1, NGHTTP2_HEADERS, 4, 1);
	b.data[b.len - 1] = (char)0x80; /* an index of 0 */
	breaks(&b, 100, "COMPRESSION_ERROR");
	buffer_release(&b);
}

static void flood(uint8_t type, uint8_t flags, size_t len, uint32_t id, const char *why)
{
	struct buffer b = {0};
	SETTINGS_FRAME(&b);
	if (type == NGHTTP2_CONTINUATION)
		frame(&b, 0, NGHTTP2_HEADERS, 0, id);
	for (int i = 0; i < 5000; i++)
		frame(&b, len, type, flags, id);
	breaks(&b, 4096, why);
	buffer_release(&b);
}

static void test_floods(void **state)
{
	struct buffer b = {0};
	(void)state;
	flood(NGHTTP2_PING, 0, 8, 0, nghttp2_strerror(NGHTTP2_ERR_FLOODED));
	flood(NGHTTP2_SETTINGS, 0, 0, 0, nghttp2_strerror(NGHTTP2_ERR_FLOODED));
	flood(NGHTTP2_CONTINUATION, 0, 0, 1, nghttp2_strerror(NGHTTP2_ERR_TOO_MANY_CONTINUATIONS));
	SETTINGS_FRAME(&b);
	for (uint32_t i = 0; i < 5000; i++) {
		frame(&b, 4, NGHTTP2_PUSH_PROMISE, 4, 1);
		b.data[b.len - 2] = (char)((2 * i + 2) >> 8);
		b.data[b.len - 1] = (char)(2 * i + 2);
	}
	breaks(&b, 4096, "the server sends frames faster than it reads the answers to them");
	buffer_release(&b);
}

/* ---- pieces ---- */

/* The outcome of the calls, as text. */
static void sum_up(struct buffer *to)
{
	for (size_t i = 0; i < peers.count; i++) {
		const struct call *c = &peers.calls[i];
		buffer_format(to, "%zu: %d %d %d %zu %s\n", i, c->ended, (int)c->how, c->code, c->body_bytes,
		              c->told.data ? c->told.data : "");
	}
}

static void conversation(void)
{
	static struct answer a, b;
	nghttp2_nv early[] = {field(":status", "103"), field("link", "x")};
	a = (struct answer){.left = 70, .trailer = "0"};
	b = (struct answer){.left = 4};
	server_settings(8, 1000);
	for (int i = 0; i < 6; i++)
		call();
	talk();
	nghttp2_submit_headers(peers.server, 0, 1, NULL, early, 2, NULL);
	respond(1, OK, &a);
	respond(3, LINES(":status: 404", "content-length: 5"), &b);
	respond(5, LINES(":status: 200", "grpc-status: 3"), NULL);
	nghttp2_submit_ping(peers.server, 0, NULL);
	nghttp2_submit_rst_stream(peers.server, 0, 7, NGHTTP2_INTERNAL_ERROR);
	nghttp2_submit_rst_stream(peers.server, 0, 9, NGHTTP2_REFUSED_STREAM);
	nghttp2_submit_goaway(peers.server, 0, 9, NGHTTP2_NO_ERROR, NULL, 0);
	talk();
}

/* The same bytes, cut at every place, and each by itself, are reported in the same way. */
static void test_pieces(void **state)
{
	struct buffer bytes = {0}, expected = {0};
	(void)state;
	peers_open();
	conversation();
	sum_up(&expected);
	assert_non_null(strstr(expected.data, "0: 1 0 0 70 status 103\n"));
	assert_non_null(strstr(expected.data, "5: 1 1 7 0 \n"));
	buffer_append(&bytes, peers.to_client.data, peers.to_client.len);
	peers_close();
	for (size_t cut = 0; cut <= bytes.len; cut++) {
		struct buffer got = {0};
		peers = (struct peers){0};
		assert_int_equal(http2_open(&peers.client, &sink), 0);
		for (int i = 0; i < 6; i++)
			call();
		while (client_says() > 0)
			;
		assert_true(cut ? tell(bytes.data, cut, cut) : tell(bytes.data, bytes.len, 1));
		while (client_says() > 0)
			;
		if (cut && cut < bytes.len)
			assert_true(tell(bytes.data + cut, bytes.len - cut, bytes.len));
		while (client_says() > 0)
			;
		sum_up(&got);
		assert_string_equal(got.data, expected.data);
		buffer_release(&got);
		peers_close();
	}
	buffer_release(&bytes);
	buffer_release(&expected);
}

/* Many requests at once leave in few pieces; closing with all of them in flight leaks nothing. */
static void test_coalescing(void **state)
{
	int pieces = 0;
	(void)state;
	peers_open();
	for (int i = 0; i < CALLS; i++)
		call();
	while (client_says() > 0)
		pieces++;
	assert_int_equal(pieces, 1);
	assert_int_equal(http2_streams(peers.client), CALLS);
	for (int i = 0; i < CALLS; i++)
		assert_int_equal(peers.calls[i].sent, 1);
	assert_string_equal(http2_code_name(7), "REFUSED_STREAM");
	assert_string_equal(http2_code_name(14), "unknown error");
	peers_close();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_headers_of_requests),
		cmocka_unit_test(test_large_headers),
		cmocka_unit_test(test_large_bodies),
		cmocka_unit_test(test_responses),
		cmocka_unit_test(test_resets),
		cmocka_unit_test(test_early_responses),
		cmocka_unit_test(test_goaway),
		cmocka_unit_test(test_graceful_goaway),
		cmocka_unit_test(test_limit_of_streams),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_cancel_within_a_body),
		cmocka_unit_test(test_calls_from_the_sink),
		cmocka_unit_test(test_no_more_wanted),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_large_responses),
		cmocka_unit_test(test_flow_control),
		cmocka_unit_test(test_broken_protocol),
		cmocka_unit_test(test_floods),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_coalescing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
