#include "job/request_body.h"

#include "base64.h"
#include "stream/digest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A piece of the media file standing before text.data[at]. */
struct media_piece {
	size_t at;
	struct media_range range;
	int64_t bytes; /* sent bytes of it: fewer than the range has if it is decoded */
	bool decoded;
};

struct request_pieces {
	int fd;
	int64_t bytes; /* all pieces together */
	size_t count, cap;
	char sha256[65]; /* the whole body's; "": not computed */
	struct media_piece list[];
};

/* ---- attaching ---- */

static bool add_piece(struct request_body *b, const struct request_media *media, struct media_piece piece)
{
	struct request_pieces *p = b->pieces;
	if (!p || p->count == p->cap) {
		size_t cap = p ? 2 * p->cap : 4;
		struct request_pieces *grown = realloc(p, sizeof *p + cap * sizeof *p->list);
		if (!grown)
			return false;
		if (!p)
			*grown = (struct request_pieces){.fd = media->fd};
		grown->cap = cap;
		b->pieces = p = grown;
	}
	p->list[p->count++] = piece;
	p->bytes += piece.bytes;
	return true;
}

static bool read_at(int fd, char *to, size_t len, int64_t at)
{
	for (size_t got = 0; got < len;) {
		ssize_t n = pread(fd, to + got, len - got, at + (int64_t)got);
		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0) /* shorter than it was when it was opened */
			errno = EIO;
		if (n <= 0)
			return false;
		got += (size_t)n;
	}
	return true;
}

/* Other bytes would end the JSON string that has them, and add members to the body. */
static int check_base64(const struct request_media *media, struct media_range r, struct ipf_error *err)
{
	char text[16384];
	for (int64_t at = 0, len; at < r.len; at += len) {
		len = r.len - at < (int64_t)sizeof text ? r.len - at : (int64_t)sizeof text;
		if (!read_at(media->fd, text, (size_t)len, r.begin + at))
			return ipf_error_errno(err, errno, NULL, "cannot read the media file");
		int64_t bad = at + (int64_t)base64_digits((struct slice){text, (size_t)len});
		while (bad < at + len && bad >= r.len - 2 && text[bad - at] == '=')
			bad++;
		if (bad < at + len)
			return ipf_error_set(err, IPF_INPUT,
			                     "bytes %lld to %lld of the media file are not base64: byte %lld is 0x%02x",
			                     (long long)r.begin, (long long)(r.begin + r.len), (long long)(r.begin + bad),
			                     (unsigned char)text[bad - at]);
	}
	return 0;
}

/* How many bytes the text in base64 encodes; -1: its length or its end are not those of base64. */
static int64_t decoded_bytes(int fd, struct media_range r)
{
	char end[2];
	if (r.len % 4)
		return -1;
	if (!r.len)
		return 0;
	if (!read_at(fd, end, sizeof end, r.begin + r.len - 2) || (end[0] == '=' && end[1] != '='))
		return -1;
	return r.len / 4 * 3 - (end[0] == '=') - (end[1] == '=');
}

static int check_range(struct media_range r, const struct request_media *media, struct ipf_error *err)
{
	if (media->fd < 0)
		return ipf_error_set(err, IPF_INPUT,
		                     "the request contains media, but the trace has no media file; --media names another");
	if (r.begin >= (int64_t)sizeof MEDIA_FILE_HEAD - 1 && r.len <= media->bytes && r.begin <= media->bytes - r.len)
		return 0;
	return ipf_error_set(
		err, IPF_INPUT,
		"the request names bytes %lld to %lld of the media file, which has %lld: does it belong to the trace?",
		(long long)r.begin, (long long)(r.begin + r.len), (long long)media->bytes);
}

int request_body_check(struct slice text, const struct request_media *media, struct ipf_error *err)
{
	struct media_mark mark;
	for (size_t from = 0; media_next_mark(text, from, &mark); from = mark.end)
		if (check_range(mark.range, media, err) < 0)
			return -1;
	return 0;
}

int request_body_attach(struct request_body *b, const struct request_media *media, struct ipf_error *err)
{
	struct media_mark mark;
	struct buffer *text = &b->text;
	size_t from = 0, to = 0; /* the bytes read, and the rest of them */
	while (!text->failed && media_next_mark(buffer_all(text), from, &mark)) {
		if (check_range(mark.range, media, err) < 0 || check_base64(media, mark.range, err) < 0)
			return -1;
		memmove(text->data + to, text->data + from, mark.begin - from);
		to += mark.begin - from;
		from = mark.end;
		struct media_piece piece = {.at = to, .range = mark.range, .bytes = mark.range.len, .decoded = mark.decoded};
		if (mark.decoded && (piece.bytes = decoded_bytes(media->fd, mark.range)) < 0)
			return ipf_error_set(err, IPF_INPUT, "bytes %lld to %lld of the media file are not base64",
			                     (long long)mark.range.begin, (long long)(mark.range.begin + mark.range.len));
		if (!add_piece(b, media, piece))
			return ipf_error_memory(err);
	}
	if (b->pieces) {
		memmove(text->data + to, text->data + from, text->len - from);
		text->len = to + text->len - from;
		text->data[text->len] = '\0';
	}
	return 0;
}

void request_body_clear(struct request_body *b)
{
	buffer_clear(&b->text);
	free(b->pieces);
	b->pieces = NULL;
}

void request_body_release(struct request_body *b)
{
	request_body_clear(b);
	buffer_release(&b->text);
}

size_t request_body_len(const struct request_body *b)
{
	return b->text.len + (b->pieces ? (size_t)b->pieces->bytes : 0);
}

const char *request_body_sha256(const struct request_body *b)
{
	return b->pieces && *b->pieces->sha256 ? b->pieces->sha256 : NULL;
}

size_t request_body_memory(const struct request_body *b)
{
	const struct request_pieces *p = b->pieces;
	return b->text.cap + (p ? sizeof *p + p->cap * sizeof *p->list : 0);
}

/* ---- sending ---- */

struct unsent request_body_unsent(const struct request_body *b)
{
	if (!b->pieces)
		return (struct unsent){.text = b->text.len ? buffer_all(&b->text) : (struct slice){"", 0}};
	return (struct unsent){.mixed = b, .len = request_body_len(b)};
}

void unsent_advance(struct unsent *u, size_t len)
{
	if (u->mixed) {
		u->at += len;
		u->len -= len;
	} else {
		u->text.data += len;
		u->text.len -= len;
	}
}

/* Decodes a piece from its byte `skip` on, group by group, as many as 4 KiB of base64 have. */
static ssize_t decode_piece(const struct request_body *b, const struct media_piece *p, int64_t skip, char *to,
                            size_t size)
{
	char text[4096], bytes[sizeof text / 4 * 3];
	const int64_t group = skip / 3 * 4, left = p->range.len - group;
	const size_t len = left < (int64_t)sizeof text ? (size_t)left : sizeof text, begin = (size_t)(skip % 3);
	size_t got = 0;
	if (!read_at(b->pieces->fd, text, len, p->range.begin + group) ||
	    !base64_decode_to((struct slice){text, len}, bytes, &got) || got <= begin ||
	    (int64_t)got > p->bytes - skip + (int64_t)begin) {
		errno = EIO;
		return -1;
	}
	size_t count = got - begin < size ? got - begin : size;
	memcpy(to, bytes + begin, count);
	return (ssize_t)count;
}

/* Copies a piece from its byte `skip` on. */
static ssize_t read_piece(const struct request_body *b, const struct media_piece *p, int64_t skip, char *to,
                          size_t size)
{
	size_t len = (size_t)(p->bytes - skip) < size ? (size_t)(p->bytes - skip) : size, got = 0;
	if (!p->decoded && !read_at(b->pieces->fd, to, len, p->range.begin + skip)) {
		errno = EIO;
		return -1;
	}
	while (p->decoded && got < len) {
		ssize_t n = decode_piece(b, p, skip + (int64_t)got, to + got, len - got);
		if (n < 0)
			return -1;
		got += (size_t)n;
	}
	return (ssize_t)len;
}

static ssize_t read_mixed(const struct request_body *b, size_t at, char *to, size_t size)
{
	const struct request_pieces *p = b->pieces;
	size_t done = 0, begin = 0, text = 0; /* in the body: where the next part begins; in the text: the same */
	for (size_t i = 0; i <= p->count && done < size; i++) {
		size_t until = i < p->count ? p->list[i].at : b->text.len, len = until - text;
		if (at + done < begin + len) {
			size_t skip = at + done - begin, most = len - skip < size - done ? len - skip : size - done;
			memcpy(to + done, b->text.data + text + skip, most);
			done += most;
		}
		begin += len;
		text = until;
		if (i == p->count || done == size)
			break;
		int64_t piece = p->list[i].bytes;
		if (at + done < begin + (size_t)piece) {
			ssize_t n = read_piece(b, &p->list[i], (int64_t)(at + done - begin), to + done, size - done);
			if (n < 0)
				return -1;
			done += (size_t)n;
		}
		begin += (size_t)piece;
	}
	return (ssize_t)done;
}

ssize_t unsent_read(const struct unsent *u, char *to, size_t size)
{
	size_t len = unsent_len(u) < size ? unsent_len(u) : size;
	if (u->mixed)
		return read_mixed(u->mixed, u->at, to, len);
	if (len)
		memcpy(to, u->text.data, len);
	return (ssize_t)len;
}

/* ---- hashing ---- */

static int hash_all(const struct request_body *b, struct digest *digest, struct ipf_error *err)
{
	char piece[16384];
	struct unsent left = request_body_unsent(b);
	for (ssize_t n; unsent_len(&left); unsent_advance(&left, (size_t)n)) {
		n = unsent_read(&left, piece, sizeof piece);
		if (n < 0)
			return ipf_error_errno(err, errno, NULL, "cannot read the media file");
		digest_update(digest, piece, (size_t)n);
	}
	return 0;
}

int request_body_hash(struct request_body *b, struct ipf_error *err)
{
	struct digest *digest;
	if (!b->pieces)
		return 0;
	digest = digest_new();
	int result = digest ? hash_all(b, digest, err) : ipf_error_memory(err);
	if (result == 0)
		digest_hex(digest, b->pieces->sha256);
	digest_free(digest);
	return result;
}
