/* Cipher suites of TLS 1.3 (RFC 8446 appendix B.4), and suites of TLS 1.2 with authenticated encryption: AES-GCM (RFC
 * 5288, 5289, 5487, 8442), AES-CCM (RFC 6655, 7251, 8442) and ChaCha20-Poly1305 (RFC 7905).
 *
 *     char room[TLS_SUITE_NAME];
 *     const struct tls_suite *suite = tls_suite_find(number);
 *     if (!suite) …tls_suite_name(number, room)…           // "TLS_RSA_WITH_AES_128_CBC_SHA", "cipher suite 0xc050"
 */
#ifndef IPF_TLS_SUITE_H
#define IPF_TLS_SUITE_H

#include <stdbool.h>
#include <stdint.h>

enum tls_aead { TLS_GCM, TLS_CCM, TLS_CHACHA20 };

struct tls_suite {
	uint16_t number;
	bool tls13;
	uint8_t aead; /* enum tls_aead */
	uint8_t key_len, tag_len;
	uint8_t hash_len; /* 32: SHA-256; 48: SHA-384 */
	const char *name;
};

enum { TLS_SUITE_NAME = 24 };

/* NULL: no suite with authenticated encryption by these algorithms. */
const struct tls_suite *tls_suite_find(uint16_t number);

/* The name, of some other suites as well; or the number, which is written to `room`. */
const char *tls_suite_name(uint16_t number, char room[TLS_SUITE_NAME]);

#endif
