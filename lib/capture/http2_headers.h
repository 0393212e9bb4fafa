/* Decodes the header blocks of one direction of a captured HTTP/2 connection (HPACK, RFC 7541), by libnghttp2.
 *
 *     struct http2_headers headers = {0};
 *     switch (http2_headers_inflate(&headers, block, on_header, data)) …
 *     http2_headers_lose(&headers);             // a block is not in the capture
 *     http2_headers_release(&headers);
 *
 * A block changes the table by which later ones are decoded, so all blocks of the direction must come here, in their
 * order. Without one of them, later blocks cannot be decoded any more.
 *
 * An encoder tells each size of its table within its blocks (RFC 7541 section 6.3). The SETTINGS of its peer only limit
 * the size, and are not needed.
 */
#ifndef IPF_CAPTURE_HTTP2_HEADERS_H
#define IPF_CAPTURE_HTTP2_HEADERS_H

#include "buffer.h"

#define HTTP2_TABLE_MOST ((size_t)1 << 20) /* bytes of the table; peers use 4 to 64 KiB */
#define HTTP2_LIST_MOST  ((size_t)1 << 20) /* bytes of a block's names and values for the sink */

struct nghttp2_hd_inflater;

/* Zero-initialise. */
struct http2_headers {
	struct nghttp2_hd_inflater *inflater; /* NULL: no block came yet, or they are lost */
	bool lost;                            /* blocks cannot be decoded any more */
};

enum http2_headers_result { HTTP2_HEADERS_READ, HTTP2_HEADERS_LOST, HTTP2_HEADERS_BROKEN, HTTP2_HEADERS_NO_MEMORY };

typedef void http2_header_taker(void *data, struct slice name, struct slice value);

/* Decodes a whole block. _LOST: an earlier one was lost. _BROKEN: it is no such block, or beyond the limits; then all
 * are lost, although `take` may have got some headers. Slices are valid during the call only. */
enum http2_headers_result http2_headers_inflate(struct http2_headers *h, struct slice block, http2_header_taker *take,
                                                void *data);
void http2_headers_lose(struct http2_headers *h);
void http2_headers_release(struct http2_headers *h);

#endif
