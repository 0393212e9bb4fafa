/* Handshake messages of one direction (RFC 8446 section 4), from the contents of records: a message may span records,
 * and a record may have several messages. Only messages of use are kept, others are counted and skipped.
 *
 *     struct tls_message m = {0};
 *     while (len) {
 *         const int64_t used = tls_message_take(&m, bytes, len, keep);
 *         if (used < 0) …                                    // too long, or out of memory (m.body.failed)
 *         if (m.complete) …m.type, buffer_all(&m.body)…
 *         bytes += used, len -= used;
 *     }
 *     tls_message_release(&m);
 */
#ifndef IPF_TLS_MESSAGE_H
#define IPF_TLS_MESSAGE_H

#include "buffer.h"

#include <stdint.h>

enum tls_message_type {
	TLS_HELLO_REQUEST = 0, /* TLS 1.2 */
	TLS_CLIENT_HELLO = 1,
	TLS_SERVER_HELLO = 2,
	TLS_END_OF_EARLY_DATA = 5,
	TLS_ENCRYPTED_EXTENSIONS = 8,
	TLS_FINISHED = 20,
	TLS_KEY_UPDATE = 24
};

enum { TLS_MESSAGE_MOST = 64 << 10 }; /* bytes of a kept body */

struct tls_message {
	uint8_t head[4], head_len;
	uint8_t type;
	bool complete;
	size_t left; /* bytes of the body to come */
	struct buffer body;
};

/* Takes bytes up to the end of a message; `m->complete` tells whether it was reached. Returns their number. -1: the
 * body of a kept type is longer than TLS_MESSAGE_MOST, or memory ran out. `keep`: bits of types, 1 << type. */
int64_t tls_message_take(struct tls_message *m, const uint8_t *bytes, size_t len, uint32_t keep);

/* Some bytes of a message have come, but not all. */
bool tls_message_begun(const struct tls_message *m);

void tls_message_release(struct tls_message *m);

#endif
