/* Decrypts one captured TLS connection by the secrets of a key log: TLS 1.3 (RFC 8446), and TLS 1.2 (RFC 5246) with the
 * suites of tls_suite.h. The caller gives the bytes of both directions in order, as from TCP reassembly, in pieces of
 * any size:
 *
 *     static int on_plain(void *data, bool from_server, const char *bytes, size_t len, int64_t t_ns) { … return 0; }
 *     static const struct tls_sink sink = {on_plain, on_closed};
 *
 *     if (tls_looks_like(first_bytes, len) && (s = tls_stream_new(keys, &sink, data))) …
 *     switch (tls_stream_bytes(s, from_server, bytes, len, t_ns)) …     // until it is not TLS_STREAM_MORE
 *     tls_stream_end(s);                                                // both directions have ended
 *     tls_stream_why(s, text, sizeof text);                             // if it was not decrypted
 *     tls_stream_free(s);
 *
 * Handled: resumption, 0-RTT (accepted and rejected), HelloRetryRequest, KeyUpdate, padding, messages after the
 * handshake, and change_cipher_spec records for middleboxes. If the log lacks the handshake secrets of TLS 1.3 but has
 * the traffic secrets, records are tried until one authenticates. After a lost byte the connection cannot be decrypted.
 * With Encrypted ClientHello, the log names another random than the visible one: such a connection has no keys.
 *
 * The directions may reach the caller out of step. Bytes wait while they need the other direction: a client's for the
 * server's hello, 0-RTT data for the server's extensions, a server's for the client's hello. A server's records also
 * wait for secrets of a growing log, until the client sends its first encrypted record: it has written them before.
 * More than TLS_WAIT_MOST bytes do not wait. A connection takes about 2 KiB, and for each direction a buffer of its
 * largest record.
 *
 * One thread uses a stream and its key log. Nothing is read from a clock: times are the caller's.
 */
#ifndef IPF_TLS_STREAM_H
#define IPF_TLS_STREAM_H

#include "capture/tls_hello.h" /* tls_looks_like */

enum {
	TLS_WAIT_MOST = 64 << 10,   /* bytes of a direction */
	TLS_SKIPPED_MOST = 1 << 20, /* bytes of records without the right key: rejected 0-RTT data, or a handshake */
	TLS_WHY_SIZE = 512
};

/* Receives a connection's content. Bytes are borrowed until the function returns. It does not call the stream. Within a
 * direction, calls are in order and times do not decrease if the caller's do not. 0 to continue; else the stream ends
 * as TLS_STREAM_STOPPED. */
struct tls_sink {
	/* Application data of a record, at least one byte. t_ns: when the record's last byte came. */
	int (*plain)(void *data, bool from_server, const char *bytes, size_t len, int64_t t_ns);
	/* The direction has ended by an alert: 0 is close_notify, others are fatal (RFC 8446 section 6). Later bytes of
	 * this direction are ignored. May be NULL. */
	int (*closed)(void *data, bool from_server, int alert, int64_t t_ns);
};

enum tls_stream_state {
	TLS_STREAM_MORE,        /* decrypted as far as possible */
	TLS_STREAM_NO_KEYS,     /* the key log lacks a secret of this connection */
	TLS_STREAM_UNSUPPORTED, /* a version before TLS 1.2, another suite, renegotiation, an OpenSSL without the cipher */
	TLS_STREAM_BROKEN,      /* malformed, or a record does not authenticate: lost bytes, or a wrong key log */
	TLS_STREAM_STOPPED,     /* the sink has refused */
	TLS_STREAM_NO_MEMORY
};

struct tls_stream;

/* The key log and the sink are borrowed. NULL: out of memory. */
struct tls_stream *tls_stream_new(struct tls_keys *keys, const struct tls_sink *sink, void *data);

/* Takes the next bytes of a direction; `t_ns`: when they came. A state other than TLS_STREAM_MORE stays. */
enum tls_stream_state tls_stream_bytes(struct tls_stream *s, bool from_server, const char *bytes, size_t len,
                                       int64_t t_ns);

/* Both directions have ended: searches the log once more. TLS_STREAM_NO_KEYS: records still wait for a secret, or none
 * fitted the secrets. Without both hellos, the state stays TLS_STREAM_MORE. */
enum tls_stream_state tls_stream_end(struct tls_stream *s);

/* The reason of the state: a constant text by which connections can be counted. "" for TLS_STREAM_MORE. */
const char *tls_stream_fault(const struct tls_stream *s);

/* Writes the reason with the known facts of the connection, safe for a terminal, such as "the key log lacks a secret
 * (CLIENT_TRAFFIC_SECRET_0): TLS 1.3, TLS_AES_128_GCM_SHA256, server api.test, client random 01…". Without a failure,
 * the facts alone. */
void tls_stream_why(const struct tls_stream *s, char *to, size_t size);

/* The name of the server in the client's hello, "" if there is none. It can have any bytes but NUL, see safe_text.h. */
const char *tls_stream_server_name(const struct tls_stream *s);

/* Clears the secrets; NULL is fine. */
void tls_stream_free(struct tls_stream *s);

#endif
