/* HTTP/1.1 requests out of a stream of bytes: strict, and in pieces of any size.
 *
 *     struct http_request r = {.head_limit = 32768, .body_limit = 1 << 20};
 *     size_t used;
 *     switch (http_feed(&r, data, len, &used)) {
 *     case HTTP_WHOLE: answer it; then http_next(&r); what follows data + used belongs to the next request
 *     case HTTP_MORE: used == len
 *     case HTTP_BAD: answer r.status (r.why says it in words) and close
 *     }
 *     http_release(&r);
 */
#ifndef SIM_HTTP_H
#define SIM_HTTP_H

#include "buffer.h"

#include <stdbool.h>
#include <stdint.h>

#define HTTP_MOST_HEADERS 100

enum http_result { HTTP_MORE, HTTP_WHOLE, HTTP_BAD };

struct http_header {
	struct slice name, value;
};

struct http_request {
	/* Set by the caller. */
	size_t head_limit, body_limit;
	/* For a complete request; the slices are good until http_next or http_feed. */
	struct slice method, path; /* the path is without its query */
	int minor;                 /* HTTP/1.minor */
	bool keep_alive;
	struct http_header headers[HTTP_MOST_HEADERS];
	size_t header_count;
	struct buffer body;
	/* For a bad one. */
	int status;
	const char *why;
	/* The parser's own. */
	struct buffer head;
	enum {
		HTTP_IN_HEAD,
		HTTP_IN_BODY,
		HTTP_IN_SIZE,
		HTTP_IN_CHUNK,
		HTTP_AFTER_CHUNK,
		HTTP_IN_TRAILER,
		HTTP_AT_END
	} state;
	uint64_t left;         /* bytes of the body, or of the chunk, still to come */
	bool expects_continue; /* the head asks for it, and nobody took it yet */
	size_t column;         /* in the line under way of a chunk's size or of the trailers */
};

enum http_result http_feed(struct http_request *r, const char *data, size_t len, size_t *used);

/* True once, when the client waits for "100 Continue" before it sends the body. */
bool http_take_continue(struct http_request *r);

/* Has anything of a request come yet? */
bool http_begun(const struct http_request *r);

/* The value of the first header of this name (any case); absent where there is none. */
struct slice http_header(const struct http_request *r, const char *name);

/* Makes ready for the next request; keeps a modest amount of memory. */
void http_next(struct http_request *r);
void http_release(struct http_request *r);

/* A header with a date, such as Date: the time now, on a clock that is `offset_ns` ahead. */
void http_write_date(struct buffer *out, const char *name, int64_t offset_ns);

/* The standard words for a status: "Not Found". */
const char *http_reason(int status);

#endif
