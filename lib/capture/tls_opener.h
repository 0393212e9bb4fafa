/* Decrypts the records of one direction of a TLS connection: its keys, and the number of the next record.
 * Zero-initialise it, and set keys whenever they change:
 *
 *     struct tls_opener o = {0};
 *     if (!tls_opener_set_traffic(&o, suite, secret)) …            // TLS 1.3: OpenSSL refuses
 *     if (!tls_opener_set_master(&o, suite, &master, from_server)) …   // TLS 1.2
 *     int64_t got = tls_opener_open(&o, record, len, room, &plain);
 *     if (got < 0) …                                               // the record does not authenticate
 *     tls_opener_release(&o);
 *
 * Keys are derived as in RFC 8446 section 7 (HKDF) and RFC 5246 section 6.3 (PRF), by OpenSSL. Each opener keeps one
 * cipher context, of which a record only changes the nonce. Secrets are cleared on release.
 */
#ifndef IPF_TLS_OPENER_H
#define IPF_TLS_OPENER_H

#include "capture/tls_keys.h"
#include "capture/tls_suite.h"

#include <openssl/evp.h>

enum {
	TLS_HEADER_SIZE = 5,                             /* type, version, length */
	TLS_RECORD_MOST = TLS_HEADER_SIZE + 16384 + 256, /* RFC 8446 section 5.2 */
	TLS_NONCE_SIZE = 12
};

struct tls_opener {
	EVP_CIPHER_CTX *context;
	const struct tls_suite *suite; /* which the present keys belong to; NULL: none yet */
	uint64_t sequence;             /* number of the next record since the keys were set */
	uint8_t iv[TLS_NONCE_SIZE];    /* with AES in TLS 1.2: four bytes, the rest is in each record */
	uint8_t secret[TLS_SECRET_MOST];
};

/* The inputs of TLS 1.2's key block. */
struct tls_master {
	uint8_t secret[TLS_SECRET_MOST];
	uint8_t client_random[TLS_RANDOM_SIZE], server_random[TLS_RANDOM_SIZE];
};

/* False: OpenSSL refuses, out of memory or without the cipher; its error queue has the reason. The secret has
 * suite->hash_len bytes. */
bool tls_opener_set_traffic(struct tls_opener *o, const struct tls_suite *suite, const uint8_t *secret);
bool tls_opener_set_master(struct tls_opener *o, const struct tls_suite *suite, const struct tls_master *master,
                           bool from_server);
/* The keys after a KeyUpdate, RFC 8446 section 7.2. */
bool tls_opener_set_next(struct tls_opener *o);

/* Decrypts a whole record with its header to `room`, which has space for `len` bytes; NULL: in place. *plain is where
 * the content begins. With TLS 1.3, the type and padding follow it. Returns its length. -1: it does not authenticate:
 * the next record may be tried with the same number, and bytes in place are lost. */
int64_t tls_opener_open(struct tls_opener *o, uint8_t *record, size_t len, uint8_t *room, uint8_t **plain);

void tls_opener_release(struct tls_opener *o);

#endif
