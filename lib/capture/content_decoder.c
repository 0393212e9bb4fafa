#include "capture/content_decoder.h"

#include <stdint.h>
#include <stdlib.h>
#include <strings.h>
#include <zlib.h>
#include <zstd.h>

#define PIECE ((size_t)16 << 10)

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

/* Appends decoded bytes, as far as they fit. False: out of memory, or there is no room for more. */
static bool append(struct buffer *body, const char *bytes, size_t len, size_t most)
{
	const size_t left = body->len < most ? most - body->len : 0;
	buffer_append(body, bytes, len < left ? len : left);
	return !body->failed && len <= left;
}

/* A member of gzip has ended: another one may follow (RFC 1952 section 2.2). */
static bool next_member(struct content_decoder *d)
{
	d->ended = d->zlib.avail_in == 0;
	return d->ended || inflateReset(&d->zlib) == Z_OK;
}

static bool add_zlib(struct content_decoder *d, struct slice bytes, struct buffer *body, size_t most)
{
	char piece[PIECE];
	if (d->ended && inflateReset(&d->zlib) != Z_OK)
		return false;
	d->ended = false;
	d->zlib.next_in = (Bytef *)(uintptr_t)bytes.data;
	d->zlib.avail_in = (uInt)bytes.len;
	for (;;) {
		d->zlib.next_out = (Bytef *)piece;
		d->zlib.avail_out = PIECE;
		int got = inflate(&d->zlib, Z_SYNC_FLUSH);
		if (got == Z_DATA_ERROR && d->may_be_raw && d->zlib.total_out == 0) {
			d->may_be_raw = false;
			if (inflateReset2(&d->zlib, -15) != Z_OK)
				return false;
			return add_zlib(d, bytes, body, most);
		}
		if (!append(body, piece, PIECE - d->zlib.avail_out, most))
			return !body->failed;
		if (got == Z_STREAM_END) {
			if (!next_member(d))
				return false;
			if (d->ended)
				return true;
			continue;
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
	char piece[PIECE];
	for (;;) {
		ZSTD_outBuffer out = {piece, PIECE, 0};
		const size_t got = ZSTD_decompressStream(d->zstd, &out, &in);
		if (ZSTD_isError(got))
			return false;
		if (!append(body, piece, out.pos, most))
			return !body->failed;
		if (in.pos == in.size && out.pos < out.size)
			return true;
	}
}

bool content_decoder_add(struct content_decoder *d, struct slice bytes, struct buffer *body, size_t most)
{
	if (!bytes.len)
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
