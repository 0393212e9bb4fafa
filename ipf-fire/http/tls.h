/* TLS of connections (OpenSSL) over reads and writes of ours, so nothing is between the socket and the time of a read:
 *
 *     tls_context_open(&context, &options, &err);            // once: trust, client certificate, ALPN
 *     tls_open(&tls, context, host, key, &io, data);          // for each connection, on its connected socket
 *     switch (tls_handshake(tls)) …                           // whenever the socket is ready, until TLS_DONE
 *     tls_read(tls, to, len, &got), tls_write(tls, from, len, &put)
 *
 * The io functions may be those of another tls: TLS to a server through TLS to a proxy. Contexts are used by one
 * thread. Sessions are resumed per key (a target), unless the options forbid it: the newest session of each is kept.
 * With the environment variable SSLKEYLOGFILE, secrets are appended to that file (RFC 9850).
 * Bytes of TLS 1.2 and 1.3 only, and no renegotiation: the first handshake is the measured one.
 */
#ifndef IPF_TLS_H
#define IPF_TLS_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct tls_context;
struct tls;

struct tls_options {
	bool insecure; /* neither the chain nor the name is verified */
	const char *cacert, *cert,
		*key;     /* PEM files; NULL: the system's trust; no client certificate; the key is in cert */
	bool h2;      /* offer h2 and http/1.1 by ALPN; else http/1.1 only */
	bool only_h2; /* offer h2 alone */
	bool no_resumption;
	size_t keys; /* keys of sessions are below this */
};

enum tls_result {
	TLS_DONE,       /* or: some bytes were read or written */
	TLS_WANT_READ,  /* call again when the socket is readable … */
	TLS_WANT_WRITE, /* … or writable */
	TLS_CLOSED,     /* the peer has closed, in good order (close_notify) */
	TLS_CUT,        /* the connection ended without close_notify */
	TLS_BROKEN,     /* the io failed; errno says how */
	TLS_FAILED,     /* TLS failed; tls_why says how */
};

/* The socket: as recv and send, with errno; 0 from `read` is the end. A read asks for all available bytes, and each
 * call below reads again only if it was full: the socket is as good as empty, epoll(7). */
struct tls_io {
	ssize_t (*read)(void *data, void *to, size_t len);
	ssize_t (*write)(void *data, const void *from, size_t len);
};

/* -1: IPF_USAGE or IPF_SYSTEM for unusable files, or out of memory. */
int tls_context_open(struct tls_context **context, const struct tls_options *options, struct ipf_error *err);
void tls_context_free(struct tls_context *c); /* NULL is fine */

/* A client's connection to `host` (a name for SNI and verification, or a numeric address without brackets, which has no
 * SNI). The context is borrowed. -1: out of memory. */
int tls_open(struct tls **tls, struct tls_context *context, const char *host, size_t key, const struct tls_io *io,
             void *data);
void tls_free(struct tls *t); /* sends nothing; NULL is fine */

enum tls_result tls_handshake(struct tls *t);
/* Returns the bytes completed by one read of the socket, as far as `len` (at least 1) allows: its time is the time of
 * all these bytes. */
enum tls_result tls_read(struct tls *t, char *to, size_t len, size_t *got);
/* Encrypts up to 64 KiB of `from` and writes them with one write. TLS_DONE: `put` bytes have gone to the socket. A call
 * returning TLS_WANT_… is repeated with the same bytes, which may have moved, and may be more. */
enum tls_result tls_write(struct tls *t, const char *from, size_t len, size_t *put);
/* Sends close_notify, as far as the socket takes it at once. Nothing after TLS_FAILED, or before the handshake. */
void tls_bye(struct tls *t);

bool tls_is_h2(const struct tls *t);      /* by ALPN */
bool tls_is_resumed(const struct tls *t); /* the session is an earlier connection's */
bool tls_has_more(const struct tls *t);   /* read on: bytes unreported by the socket may wait */
/* Why TLS_FAILED: "certificate has expired", "wrong version number"; from OpenSSL's codes, of at most `len` - 1 bytes.
 */
void tls_why(const struct tls *t, char *text, size_t len);

#endif
