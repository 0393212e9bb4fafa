#include "capture/content_decoder.h"

#include <stdint.h>
#include <stdlib.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

#define PIECE ((size_t)64 << 10)

struct content_decoder {
	ZSTD_DStream *zstd; /* NULL: zlib */
	z_stream zlib;
	bool may_be_raw; /* "deflate" without zlib's frame, as some servers send it */
	bool ended;
};

static bool is_word(struct slice text, const char *word)
{
	return text.len == strlen(word) && strncasecmp(text.data, word, text.len) == 0;
}

enum content_coding content_decoder_new(struct content_decoder **decoder, struct slice coding)
{
	const bool gzip = is_word(coding, "gzip") || is_word(coding, "x-gzip"), deflate = is_word(coding, "deflate");
	*decoder = NULL;
	if (!coding.len || is_word(coding, "identity"))
		return CONTENT_PLAIN;
	if (!gzip && !deflate && !is_word(coding, "zstd"))
		return CONTENT_UNKNOWN;
	struct content_decoder *d = calloc(1, sizeof *d);
	if (!d)
		return CONTENT_NO_MEMORY;
	d->may_be_raw = deflate;
	const bool opened = gzip      ? inflateInit2(&d->zlib, 15 + 16) == Z_OK
	                    : deflate ? inflateInit(&d->zlib) == Z_OK
	                              : (d->zstd = ZSTD_createDStream()) != NULL;
	if (!opened) {
		free(d);
		return CONTENT_NO_MEMORY;
	}
	*decoder = d;
	return CONTENT_CODED;
}

/* Room for more; NULL: out of memory. *len is 0 if `most` is reached. */
static char *room(struct buffer *body, size_t most, size_t *len)
{
	const size_t left = body->len < most ? most - body->len : 0;
	*len = left < PIECE ? left : PIECE;
	return buffer_reserve(body, PIECE);
}

static bool add_zlib(struct content_decoder *d, struct slice bytes, struct buffer *body, size_t most)
{
	d->zlib.next_in = (Bytef *)(uintptr_t)bytes.data;
	d->zlib.avail_in = (uInt)bytes.len;
	for (;;) {
		size_t len;
		char *to = room(body, most, &len);
		if (!to || !len)
			return to;
		d->zlib.next_out = (Bytef *)to;
		d->zlib.avail_out = (uInt)len;
		int got = inflate(&d->zlib, Z_SYNC_FLUSH);
		if (got == Z_DATA_ERROR && d->may_be_raw && d->zlib.total_out == 0) {
			d->may_be_raw = false;
			if (inflateReset2(&d->zlib, -15) != Z_OK)
				return false;
			return add_zlib(d, bytes, body, most);
		}
		body->len += len - d->zlib.avail_out;
		body->data[body->len] = '\0';
		if (got == Z_STREAM_END) {
			d->ended = true;
			return true;
		}
		if (got != Z_OK && got != Z_BUF_ERROR)
			return false;
		if (d->zlib.avail_out)
			return true;
	}
}

static bool add_zstd(struct content_decoder *d, struct slice bytes, struct buffer *body, size_t most)
{
	ZSTD_inBuffer in = {bytes.data, bytes.len, 0};
	for (;;) {
		size_t len;
		char *to = room(body, most, &len);
		if (!to || !len)
			return to;
		ZSTD_outBuffer out = {to, len, 0};
		const size_t got = ZSTD_decompressStream(d->zstd, &out, &in);
		if (ZSTD_isError(got))
			return false;
		body->len += out.pos;
		body->data[body->len] = '\0';
		if (in.pos == in.size && out.pos < out.size)
			return true;
	}
}

bool content_decoder_add(struct content_decoder *d, struct slice bytes, struct buffer *body, size_t most)
{
	if (d->ended || !bytes.len)
		return true;
	return (d->zstd ? add_zstd : add_zlib)(d, bytes, body, most);
}

void content_decoder_free(struct content_decoder *d)
{
	if (!d)
		return;
	if (d->zstd)
		ZSTD_freeDStream(d->zstd);
	else
		inflateEnd(&d->zlib);
	free(d);
}
