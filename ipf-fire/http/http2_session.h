/* An HTTP/2 connection's protocol (RFC 9113), over libnghttp2: frames in, frames out, streams told apart. Does no input
 * or output and keeps no time; the owner of the socket moves the bytes:
 *
 *     http2_open(&s, &sink);                            // its preface and SETTINGS wait in the output
 *     id = http2_request(s, stream, &request);
 *     while ((len = http2_output(s, &bytes)) > 0) …     // write them; keep what the socket did not take
 *     http2_input(s, bytes, len)                        // what was read; calls the sink
 *
 * Ask for output after each input, request and cancel, as soon as the socket takes more: answers to the server's
 * frames wait there, and too many of them end the connection.
 *
 * Windows are as large as HTTP/2 allows (2^31-1 bytes of the connection and of each stream) and are opened as bytes
 * come, so flow control never holds a server back. Server push is off. No stream is sent again here: HTTP2_UNSEEN says
 * the server has not processed it (REFUSED_STREAM, or beyond the last stream of GOAWAY).
 *
 * The sink's functions are called from http2_input and from http2_output, `ended` as well: a response breaking the
 * protocol ends when the reset of its stream is in the output. From each of them http2_request, http2_cancel (of any
 * stream) and the functions without effects may be called. http2_output returns 0 there; http2_input and http2_free
 * must not be called.
 */
#ifndef IPF_HTTP2_SESSION_H
#define IPF_HTTP2_SESSION_H

#include "buffer.h"
#include "job/request_body.h"

#include <curl/curl.h>
#include <stdint.h>

/* A response's header: names, values and 32 bytes a line, those of interim responses and trailers; a request's. */
#define HTTP2_HEADERS_MOST         ((uint32_t)256 << 10)
#define HTTP2_REQUEST_HEADERS_MOST ((size_t)4 << 20)
#define HTTP2_OUTPUT_PIECE         ((size_t)64 << 10)

struct http2_session;

enum http2_end {
	HTTP2_COMPLETE,  /* END_STREAM came. If the request was not sent as a whole, the rest is not sent */
	HTTP2_UNSEEN,    /* not processed by the server: may be sent again */
	HTTP2_RESET,     /* by the server's RST_STREAM; `code` is its error code (RFC 9113 section 7) */
	HTTP2_MALFORMED, /* the response breaks the protocol: content-length, missing :status, … */
	HTTP2_TOO_LARGE, /* its header lines exceed HTTP2_HEADERS_MOST */
	HTTP2_STOPPED,   /* the sink wanted no more; the stream is reset with CANCEL */
};

/* Receivers of responses; `stream` is the argument of http2_request. Slices are valid during the call only. */
struct http2_sink {
	void (*status)(void *stream, int status);                            /* interim responses (1xx), too */
	void (*header)(void *stream, struct slice name, struct slice value); /* trailers, too; no pseudo headers */
	bool (*body)(void *stream, const char *bytes, size_t len);           /* false: no more */
	/* The request's last byte is in the output of the current call of http2_output. Not called for an ended stream. */
	void (*sent)(void *stream);
	/* The stream has ended, exactly once for each; `code` is the error code of the frame ending it. Nothing more is
	 * reported of it. Not called for streams ended by http2_cancel, nor by http2_free. */
	void (*ended)(void *stream, enum http2_end how, uint32_t code);
};

struct http2_request {
	const char *method, *scheme; /* "http" or "https" */
	struct slice authority, path;
	/* "Name: value"; "Name:" is left out, also if it has a default; "Name;" is empty. Host replaces the authority. Left
	 * out are Connection, Keep-Alive, Proxy-Connection, Transfer-Encoding and Upgrade, which HTTP/2 does not have, and
	 * of TE all but "trailers". Defaults: accept (anything), and content-length if there is a body. */
	const struct curl_slist *headers;
	struct slice user_agent, authorization; /* unless the headers have one; absent: none */
	struct unsent body;                     /* borrowed until `sent`, `ended` or http2_cancel */
};

/* -1: out of memory. The sink is borrowed. */
int http2_open(struct http2_session **session, const struct http2_sink *sink);
void http2_free(struct http2_session *s); /* NULL is fine */

/* Sends a request. Returns its stream id; -1: out of memory, headers beyond HTTP2_REQUEST_HEADERS_MOST, or no more
 * streams (http2_going_away): use another connection. More requests than http2_streams_most wait for others to end. */
int32_t http2_request(struct http2_session *s, void *stream, const struct http2_request *request);
/* Ends a stream: resets it with CANCEL, and reports no more of it. A request of which no byte has been in the output is
 * not sent. Nothing happens if it has ended. */
void http2_cancel(struct http2_session *s, int32_t id);

/* Bytes from the server. false: the connection is of no use any more; http2_error says why. Open streams are the
 * caller's to end. */
bool http2_input(struct http2_session *s, const char *bytes, size_t len);
/* The next bytes to write, some HTTP2_OUTPUT_PIECE at most, valid until the next call; 0: none; -1: the connection is
 * of no use (http2_error). If the server broke the protocol, it comes after the bytes of the GOAWAY saying so. */
int64_t http2_output(struct http2_session *s, const char **bytes);
/* The fault of the connection, in words of ours and nghttp2's: "PROTOCOL_ERROR: SETTINGS expected"; valid as long as
 * the session. NULL: nothing did. */
const char *http2_error(const struct http2_session *s);

/* Have the server's first SETTINGS come? Until then its limit of streams is not known. */
bool http2_settled(const struct http2_session *s);
/* How many streams the server accepts at once; UINT32_MAX: not known, or no limit. */
uint32_t http2_streams_most(const struct http2_session *s);
/* Has the server sent GOAWAY, or have stream ids run out? Then no new request goes on it. */
bool http2_going_away(const struct http2_session *s);
/* Open requests on it. */
size_t http2_streams(const struct http2_session *s);
/* The unsent ones: the next http2_output sends them, except for those beyond http2_streams_most. */
size_t http2_held(const struct http2_session *s);
/* Name of an error code of HTTP/2, "REFUSED_STREAM"; "unknown error" beyond the standard. */
const char *http2_code_name(uint32_t code);

#endif
