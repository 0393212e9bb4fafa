/* Reads HTTP/1.1 responses (RFC 9112), strictly: a breach of the standard is malformed, with the offset of its first
 * byte; and requests, for those who listen to a connection. Does no input, keeps no time, knows no connection:
 *
 *     struct http1_reader r = {0};
 *     http1_begin(&r, false);                                       // for each response
 *     switch (http1_read(&r, bytes, len, &used, &sink, data)) …     // for each piece that came; calls the sink
 *     case HTTP1_COMPLETE:  bytes + used is the next response's; r.keep says whether there may be one
 *     http1_closed(&r)                                              // the server closed the connection instead
 *     http1_release(&r);
 *
 * A body ends by Content-Length, by the last chunk, or when the connection closes. However the bytes come in pieces,
 * the result is the same. Malformed are, among others: both length and chunks (RFC 9112 section 6.3 lets a client
 * refuse them), any transfer coding but `chunked`, one in a response of HTTP/1.0 (section 6.1: its framing is faulty),
 * a length other than a number or differs from another one, folded lines, white space before a colon, NUL, a bare CR,
 * an overflowing chunk size. A bare LF ends a line of the head or of the trailers (section 2.2 allows it), but no line
 * of chunks. 101 is malformed, too, unless an upgrade was requested (`may_upgrade`).
 *
 *     http1_begin_request(&r);                                      // instead of http1_begin
 *     http1_lost(&r, len)                                           // a capture has not seen these bytes
 */
#ifndef IPF_HTTP1_READER_H
#define IPF_HTTP1_READER_H

#include "buffer.h"

#include <stdint.h>

#define HTTP1_HEADERS_MOST                                                                                             \
	((size_t)256 << 10)            /* bytes of header lines, those of interim responses and trailers included */
#define HTTP1_INTERIM_MOST    100  /* 1xx responses before one response */
#define HTTP1_CHUNK_LINE_MOST 4096 /* bytes of a chunk's size and extensions */

enum http1_result {
	HTTP1_MORE,      /* all was used, and more is to come */
	HTTP1_COMPLETE,  /* the response has ended */
	HTTP1_UPGRADED,  /* it was 101: further bytes belong to another protocol */
	HTTP1_CUT,       /* only from http1_closed: the connection closed within the response, or before it */
	HTTP1_MALFORMED, /* `why` and `offset` give the fault */
	HTTP1_TOO_LARGE, /* the header lines */
	HTTP1_STOPPED,   /* the sink wanted no more */
	HTTP1_NO_MEMORY, /* for a line coming in pieces */
};

/* Receives a response or a request, in its order. Slices are valid during the call only. */
struct http1_sink {
	void (*status)(void *data, int status);                            /* interim responses (1xx), too */
	void (*header)(void *data, struct slice name, struct slice value); /* without white space around; trailers, too */
	bool (*body)(void *data, const char *bytes, size_t len);           /* without framing; false: no more */
	void (*request)(void *data, struct slice method, struct slice target); /* for requests, instead of `status` */
};

/* Begins as {0}. Members without a comment are the reader's own. */
struct http1_reader {
	uint64_t left;       /* bytes of the body, or of the chunk */
	uint64_t offset;     /* used bytes of this response; HTTP1_MALFORMED: where the line or byte begins */
	struct buffer line;  /* a line coming in pieces; empty otherwise */
	const char *why;     /* the fault; a constant text */
	uint32_t headers;    /* bytes of header lines so far */
	uint16_t status;     /* the last status line's; 0: none yet */
	uint16_t chunk_line; /* bytes of the chunk's size and extensions so far */
	uint8_t interim;     /* 1xx responses so far */
	uint8_t state;
	bool keep;        /* after HTTP1_COMPLETE: another request may be sent on the connection */
	bool may_upgrade; /* set it after http1_begin: the request asked for another protocol */
	bool is_request, no_body, has_length, chunked, coded, http10, close, keep_alive;
};

/* Begins a response. `no_body`: it has none whatever its headers say (the response to HEAD). */
void http1_begin(struct http1_reader *r, bool no_body);
/* Begins a request: without Content-Length and chunks it has no body (section 6.3). Empty lines before it are skipped
 * (section 2.2). */
void http1_begin_request(struct http1_reader *r);
/* Reads the next piece. `used` is how much belonged to this response: less than `len` only with another result than
 * HTTP1_MORE. After any other result the response is over: begin the next one, or close the connection. */
enum http1_result http1_read(struct http1_reader *r, const char *bytes, size_t len, size_t *used,
                             const struct http1_sink *sink, void *data);
/* The next `len` bytes were not seen. True: all of them belong to the body and its end can still be found; the sink
 * does not get them. Read on, with no bytes if there are none: the message may have ended. False: its end is not known.
 */
bool http1_lost(struct http1_reader *r, uint64_t len);
/* The connection was closed: HTTP1_COMPLETE if this ends the body, else HTTP1_CUT. */
enum http1_result http1_closed(const struct http1_reader *r);
void http1_release(struct http1_reader *r);

#endif
