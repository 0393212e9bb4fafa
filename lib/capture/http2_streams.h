/* The open streams of a captured HTTP/2 connection, found by their ids, in the order of their beginning.
 *
 *     struct http2_streams streams = {0};
 *     struct http2_stream *s = http2_streams_add(&streams, id, x);
 *     s = http2_streams_find(&streams, id);
 *     http2_streams_remove(&streams, s);
 *     http2_streams_has_ended(&streams, id)                  // late frames of it may come
 *     http2_streams_release(&streams);
 */
#ifndef IPF_CAPTURE_HTTP2_STREAMS_H
#define IPF_CAPTURE_HTTP2_STREAMS_H

#include "capture/captured.h"

struct http2_stream {
	struct captured *x; /* the owner's */
	int32_t id;
	bool unread; /* the headers of the request are unknown: no bodies are kept */

	/* private */
	struct http2_stream *chain, *newer, *older;
};

/* Zero-initialise. */
struct http2_streams {
	struct http2_stream *oldest, *newest; /* NULL: there is none */
	size_t count;

	/* private */
	struct http2_stream **buckets;
	size_t buckets_count; /* 0 or a power of two */
	int32_t *ended;       /* by the id's low bits: the last ended one */
};

/* NULL: out of memory. */
struct http2_stream *http2_streams_add(struct http2_streams *t, int32_t id, struct captured *x);
/* NULL: it is not open. */
struct http2_stream *http2_streams_find(const struct http2_streams *t, int32_t id);
/* Frees it. */
void http2_streams_remove(struct http2_streams *t, struct http2_stream *s);
/* Is it one of the last hundred ended ones? */
bool http2_streams_has_ended(const struct http2_streams *t, int32_t id);
void http2_streams_release(struct http2_streams *t);

#endif
