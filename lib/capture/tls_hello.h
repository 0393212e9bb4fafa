/* The first messages of a TLS connection, which choose its keys: the client's and the server's hello (RFC 8446 section
 * 4.1, RFC 5246 section 7.4.1). With them, the server's encrypted extensions (RFC 8446 section 4.3.1).
 *
 *     struct tls_client_hello hello;
 *     if (!tls_client_hello_read(&hello, body, len)) …      // malformed
 *
 * A body is a message without its header of four bytes. Lengths are checked; unknown extensions are skipped.
 */
#ifndef IPF_TLS_HELLO_H
#define IPF_TLS_HELLO_H

#include "capture/tls_keys.h"

enum { TLS_1_2 = 0x0303, TLS_1_3 = 0x0304, TLS_SERVER_NAME_SIZE = 256 };

struct tls_client_hello {
	uint8_t random[TLS_RANDOM_SIZE];
	char server_name[TLS_SERVER_NAME_SIZE]; /* as the client sent it (RFC 6066), up to a NUL; "": none */
	bool early_data;                        /* the client offers 0-RTT */
};

struct tls_server_hello {
	uint8_t random[TLS_RANDOM_SIZE];
	uint16_t version; /* chosen, such as TLS_1_3 */
	uint16_t suite;
	bool retry; /* a HelloRetryRequest: the client sends another hello */
};

/* False: malformed. */
bool tls_client_hello_read(struct tls_client_hello *hello, const uint8_t *body, size_t len);
bool tls_server_hello_read(struct tls_server_hello *hello, const uint8_t *body, size_t len);
/* *early_data: the server accepts 0-RTT. */
bool tls_encrypted_extensions_read(bool *early_data, const uint8_t *body, size_t len);

/* Whether a client's first bytes begin a record with a ClientHello. A shorter text than 11 bytes may still
 * become one. False for no bytes. */
bool tls_looks_like(const char *bytes, size_t len);

#endif
