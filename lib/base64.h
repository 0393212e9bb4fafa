/* Base64 (RFC 4648, with + and /). */
#ifndef IPF_BASE64_H
#define IPF_BASE64_H

#include "buffer.h"

/* Appends the text, padded. Memory that runs out shows in `out`. */
void base64_encode(struct slice bytes, struct buffer *out);

/* Appends the bytes. -1: not base64; nothing is appended. The padding may be missing. Memory that runs out shows in
 * `out`. */
int base64_decode(struct slice text, struct buffer *out);

#endif
