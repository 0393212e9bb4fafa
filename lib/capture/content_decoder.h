/* Takes the content encoding off a body piece by piece (RFC 9110 section 8.4.1): gzip, deflate, zstd.
 *
 *     struct content_decoder *decoder;
 *     switch (content_decoder_new(&decoder, slice_of("gzip"))) …
 *     content_decoder_add(decoder, bytes, &body);           // appends what these bytes bring
 *
 * Each piece gives all that can be decoded of it, so the time of a byte is that of the piece that completed it.
 */
#ifndef IPF_CAPTURE_CONTENT_DECODER_H
#define IPF_CAPTURE_CONTENT_DECODER_H

#include "buffer.h"

struct content_decoder;

enum content_coding { CONTENT_PLAIN, CONTENT_CODED, CONTENT_UNKNOWN, CONTENT_NO_MEMORY };

/* CONTENT_CODED: *decoder is new. Several codings are unknown. */
enum content_coding content_decoder_new(struct content_decoder **decoder, struct slice coding);
/* Appends to `body`, which may then be up to `most` bytes long; what does not fit is left out. False: the bytes are no
 * such encoding, or memory ran out (body->failed). */
bool content_decoder_add(struct content_decoder *d, struct slice bytes, struct buffer *body, size_t most);
void content_decoder_free(struct content_decoder *d); /* NULL is fine */

#endif
