/* The key log of TLS connections: secrets by which captured connections can be decrypted, in the format of
 * SSLKEYLOGFILE (RFC 9850). Browsers, curl, Python, Go and OpenSSL write it. Each line has a label, the client's random
 * and a secret, the last two in hexadecimal:
 *
 *     CLIENT_TRAFFIC_SECRET_0 90a5…1f 5b2c…08
 *
 * Open it once for all connections:
 *
 *     struct tls_keys *keys;
 *     uint8_t secret[TLS_SECRET_MOST];
 *     if (tls_keys_open(&keys, "keys.log", &err) < 0) …
 *     if (tls_keys_find(keys, TLS_SERVER_TRAFFIC, random, secret, 32)) …
 *     if (tls_keys_close(keys, &err) < 0) …                  // a read failed meanwhile
 *
 * The file may grow while it is used: a search without success first reads the appended lines. The last line counts
 * before its newline is written, and again when it is longer. A pipe is read up to its end when it is opened.
 *
 * Comments (#), empty lines and labels of other uses are skipped. Malformed lines are counted and skipped. If a label
 * and a random occur twice, the last secret counts. At most TLS_KEYS_MOST secrets are kept, in about 64 MiB; more are
 * counted and left out. Memory of secrets is cleared before it is freed. One thread uses a key log.
 */
#ifndef IPF_TLS_KEYS_H
#define IPF_TLS_KEYS_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	TLS_RANDOM_SIZE = 32,   /* bytes of a hello's random */
	TLS_SECRET_MOST = 48,   /* bytes: TLS 1.2's master secret, and secrets of suites with SHA-384 */
	TLS_KEYS_MOST = 1 << 19 /* secrets: 500,000 connections of TLS 1.2, or 130,000 of TLS 1.3 */
};

enum tls_label {
	TLS_MASTER,           /* CLIENT_RANDOM: TLS 1.2's master secret, 48 bytes */
	TLS_CLIENT_EARLY,     /* CLIENT_EARLY_TRAFFIC_SECRET: the others are of TLS 1.3, 32 or 48 bytes */
	TLS_CLIENT_HANDSHAKE, /* CLIENT_HANDSHAKE_TRAFFIC_SECRET */
	TLS_SERVER_HANDSHAKE, /* SERVER_HANDSHAKE_TRAFFIC_SECRET */
	TLS_CLIENT_TRAFFIC,   /* CLIENT_TRAFFIC_SECRET_0 */
	TLS_SERVER_TRAFFIC,   /* SERVER_TRAFFIC_SECRET_0 */
	TLS_LABELS
};

/* The label as it is in the file. */
const char *tls_label_name(enum tls_label label);

struct tls_keys_count {
	int64_t secrets;   /* kept: different pairs of label and random */
	int64_t others;    /* lines with a label of no use here, such as EXPORTER_SECRET */
	int64_t malformed; /* lines */
	int64_t left_out;  /* secrets beyond TLS_KEYS_MOST */
};

struct tls_keys;

/* Reads the present lines. -1: IPF_SYSTEM, the file cannot be opened or read, or out of memory; *keys is then NULL.
 */
int tls_keys_open(struct tls_keys **keys, const char *path, struct ipf_error *err);

/* Copies the secret of this label and random to `secret`, if it has `len` bytes. False: the log does not have it yet,
 * or reading it has failed, see tls_keys_close. */
bool tls_keys_find(struct tls_keys *keys, enum tls_label label, const uint8_t random[TLS_RANDOM_SIZE], uint8_t *secret,
                   size_t len);

struct tls_keys_count tls_keys_count(const struct tls_keys *keys);

/* Clears and frees everything; NULL is fine. -1: reading appended lines failed, or out of memory. */
int tls_keys_close(struct tls_keys *keys, struct ipf_error *err);

#endif
