/* The body of a request: a text in memory, or a text with pieces of the trace's media file between its bytes, which are
 * read when the socket takes them: as the base64 they are, or decoded, as forms have them.
 *
 *     body_renderer_render(renderer, &q, context, &body.text, &err);
 *     request_body_attach(&body, &media, &err);                 // cuts it at the marks of media
 *     struct unsent left = request_body_unsent(&body);
 *     n = unsent_read(&left, to, size); … unsent_advance(&left, sent);
 */
#ifndef IPF_REQUEST_BODY_H
#define IPF_REQUEST_BODY_H

#include "stream/media_file.h"

#include <sys/types.h>

/* The media file of a run. */
struct request_media {
	int fd; /* -1: there is none */
	int64_t bytes;
};

struct request_pieces;

struct request_body {
	struct buffer text;            /* without marks, once it is attached */
	struct request_pieces *pieces; /* the media file's; NULL: none */
};

size_t request_body_len(const struct request_body *b);
/* In hex, as request_body_hash computed it; NULL: it was not needed, or the body is only a text. */
const char *request_body_sha256(const struct request_body *b);

/* -1: as request_body_attach, for marks in a part of a body. */
int request_body_check(struct slice text, const struct request_media *media, struct ipf_error *err);
/* Finds the marks of the text. -1 (IPF_INPUT): there is no media file, or a mark names bytes it does not have, or bytes
 * that are not base64; the file cannot be read; out of memory. */
int request_body_attach(struct request_body *b, const struct request_media *media, struct ipf_error *err);
/* Computes its hash if it has pieces. -1: the media file cannot be read; out of memory. */
int request_body_hash(struct request_body *b, struct ipf_error *err);
void request_body_clear(struct request_body *b); /* keeps the memory of its text */
void request_body_release(struct request_body *b);
size_t request_body_memory(const struct request_body *b);

/* The unsent rest of a body, borrowed. Nothing else than a text in memory has `text`. */
struct unsent {
	struct slice text;
	const struct request_body *mixed;
	size_t at, len; /* in `mixed` */
};
struct unsent request_body_unsent(const struct request_body *b);
static inline size_t unsent_len(const struct unsent *u)
{
	return u->mixed ? u->len : u->text.len;
}
/* Copies the first bytes, at most `size`. Less than 0: errno; the media file cannot be read, has become shorter,
 * or is not base64 where it is decoded (EIO). */
ssize_t unsent_read(const struct unsent *u, char *to, size_t size);
void unsent_advance(struct unsent *u, size_t len);

#endif
