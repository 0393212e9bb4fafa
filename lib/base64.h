/* Base64 (RFC 4648, with + and /). */
#ifndef IPF_BASE64_H
#define IPF_BASE64_H

#include "buffer.h"

/* Appends the text, padded. Memory running out shows in `out`. */
void base64_encode(struct slice bytes, struct buffer *out);

/* Appends the bytes. -1: not base64; nothing is appended. The padding may be missing. Memory running out shows in
 * `out`. */
int base64_decode(struct slice text, struct buffer *out);
/* The same into `to`, which has 3 bytes for each 4 of the text, and 3 for the rest of it. false: not base64. */
bool base64_decode_to(struct slice text, char *to, size_t *len);

/* The number of digits that the text begins with: all its bytes, or those before the padding. */
size_t base64_digits(struct slice text);

#endif
