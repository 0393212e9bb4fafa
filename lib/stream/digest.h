/* SHA-256 of data coming in pieces, by OpenSSL.
 *
 *     struct digest *d = digest_new();
 *     digest_update(d, bytes, len);     // any number of times
 *     char hex[65];
 *     digest_hex(d, hex);
 *     digest_free(d);
 */
#ifndef IPF_DIGEST_H
#define IPF_DIGEST_H

#include <stddef.h>

struct digest;

struct digest *digest_new(void); /* NULL: out of memory */
void digest_update(struct digest *d, const void *data, size_t len);
/* Writes 64 lower-case hex digits and a NUL: the digest of all data so far. More data may follow. */
void digest_hex(struct digest *d, char hex[65]);
void digest_free(struct digest *d); /* NULL is fine */

#endif
