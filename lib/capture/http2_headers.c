#include "capture/http2_headers.h"

#include "http/http2_memory.h"

#include <nghttp2/nghttp2.h>
#include <stdlib.h>

/* ---- blocks ---- */

static bool open_inflater(struct http2_headers *h)
{
	if (h->inflater)
		return true;
	return nghttp2_hd_inflate_new2(&h->inflater, http2_memory()) == 0 &&
	       nghttp2_hd_inflate_change_table_size(h->inflater, HTTP2_TABLE_MOST) == 0;
}

enum http2_headers_result http2_headers_inflate(struct http2_headers *h, struct slice block, http2_header_taker *take,
                                                void *data)
{
	const uint8_t *at = (const uint8_t *)block.data;
	size_t left = block.len, given = 0;
	int flags = 0;
	if (h->lost)
		return HTTP2_HEADERS_LOST;
	if (!open_inflater(h))
		return HTTP2_HEADERS_NO_MEMORY;
	while (!(flags & NGHTTP2_HD_INFLATE_FINAL)) {
		nghttp2_nv nv;
		flags = 0;
		const ssize_t used = nghttp2_hd_inflate_hd2(h->inflater, &nv, &flags, at, left, 1);
		if (used == NGHTTP2_ERR_NOMEM)
			return HTTP2_HEADERS_NO_MEMORY;
		if (used < 0 || (!used && !flags)) {
			http2_headers_lose(h);
			return HTTP2_HEADERS_BROKEN;
		}
		at += used;
		left -= (size_t)used;
		if (!(flags & NGHTTP2_HD_INFLATE_EMIT))
			continue;
		given += nv.namelen + nv.valuelen;
		if (given <= HTTP2_LIST_MOST)
			take(data, (struct slice){(const char *)nv.name, nv.namelen},
			     (struct slice){(const char *)nv.value, nv.valuelen});
	}
	nghttp2_hd_inflate_end_headers(h->inflater);
	return HTTP2_HEADERS_READ;
}

void http2_headers_lose(struct http2_headers *h)
{
	http2_headers_release(h);
	h->lost = true;
}

void http2_headers_release(struct http2_headers *h)
{
	if (h->inflater)
		nghttp2_hd_inflate_del(h->inflater);
	h->inflater = NULL;
}
