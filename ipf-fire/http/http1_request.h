/* Writes the head of an HTTP/1.1 request as libcurl does, in its order and with its meaning of a header list:
 *
 *     struct http1_request q = {.method = "POST", .target = path, .host = host, .headers = list, .body_bytes =
 * body.len}; struct slice after = http1_request_head(&q, &head); if (head.failed) …                       // out of
 * memory write head, body, after                  // `after` ends a body in chunks; empty otherwise
 *
 * A header list is that of CURLOPT_HTTPHEADER: "Name: value" is sent verbatim, and replaces the default header of that
 * name; "Name:" only suppresses it; "Name;" sends it empty. Unlike libcurl, no Content-Type is made up if the list has
 * none, and a Proxy-Authorization in the list replaces the default one.
 */
#ifndef IPF_HTTP1_REQUEST_H
#define IPF_HTTP1_REQUEST_H

#include "buffer.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

struct http1_request {
	const char *method;
	struct slice target;        /* "/path?query"; for a forwarding proxy "http://host:port/path?query" */
	struct slice host;          /* Host's value: the authority without credentials, "name", "name:port", "[::1]:8000" */
	struct slice authorization; /* Authorization's value; absent: none */
	struct slice proxy_authorization;
	bool forwarded;          /* by a proxy: also sends Proxy-Connection: Keep-Alive */
	struct slice user_agent; /* absent: none */
	const struct curl_slist *headers;
	uint64_t body_bytes; /* Content-Length if not 0, and always for POST, PUT and PATCH */
};

/* Appends the head. A list with "Transfer-Encoding: chunked" sends the body as one chunk, whose size is part of the
 * head. Returns the bytes to follow the body, a constant. */
struct slice http1_request_head(const struct http1_request *q, struct buffer *head);

/* The same in two parts, for requests differing in their bodies only: all but the length, once, and then the length and
 * the end of the head for each. Not for lists saying themselves how long the body is, or by chunks.
 */
void http1_request_begin(const struct http1_request *q, struct buffer *head);
void http1_request_length(const char *method, uint64_t body_bytes, struct buffer *head);
bool http1_request_frames_itself(const struct http1_request *q);

#endif
