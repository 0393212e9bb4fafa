/* The salt of a trace without text, and the hashes it keys: HMAC-SHA-256 by OpenSSL (RFC 2104).
 *
 *     struct salt salt;
 *     if (salt_read(&salt, path, &shared, &err) < 0) …     // or salt_make(&salt, &err): random, never written
 *     struct salted_hash hash;
 *     salted_hash_begin(&hash, &salt, SALTED_SESSION);
 *     salted_hash_add(&hash, name.data, name.len);
 *     uint64_t key = salted_hash_number(&hash, &salt);
 *     salt_release(&salt);
 *
 * A hash begins with its purpose, so a text that occurs in two roles has two hashes. A running hash can be copied by
 * assignment: the copy and the original go on separately.
 */
#ifndef PREP_ANONYMIZE_SALT_H
#define PREP_ANONYMIZE_SALT_H

#include "error.h"

/* The functions without a context of the library: they allocate nothing, so no step of a hash can fail. */
#ifndef OPENSSL_SUPPRESS_DEPRECATED
#define OPENSSL_SUPPRESS_DEPRECATED
#endif
#include <openssl/sha.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a file of salt. */
enum { SALT_LEAST = 16, SALT_MOST = 4096 };
enum { SALTED_BYTES = SHA256_DIGEST_LENGTH };

/* The purpose of a hash. */
enum salted_use {
	SALTED_BLOCK,
	SALTED_PROMPT,
	SALTED_SESSION,
	SALTED_MODEL,
	SALTED_JITTER,
	SALTED_FILLER,
	SALTED_REQUEST
};

struct salt {
	SHA256_CTX inner, outer; /* after the key */
};

/* Blocks are put together here and not by OpenSSL: most hashes have a single one, for which its functions would take
 * more time than SHA-256 itself. */
struct salted_hash {
	SHA256_CTX running;
	unsigned char pending[SHA256_CBLOCK]; /* bytes of an incomplete block … */
	size_t pending_len;                   /* … fewer than that */
	uint64_t bytes;                       /* in all, with those of the key */
};

/* A salt of any bytes, at least one. */
void salt_init(struct salt *salt, const void *bytes, size_t len);
/* A salt of a file's bytes. *shared: others than its owner can read it. -1: IPF_SYSTEM; IPF_INPUT for a file too short
 * or too long, or repeating one byte. */
int salt_read(struct salt *salt, const char *path, bool *shared, struct ipf_error *err);
/* A salt of random bytes, which are not kept. */
int salt_make(struct salt *salt, struct ipf_error *err);
void salt_release(struct salt *salt); /* forgets it */

void salted_hash_begin(struct salted_hash *hash, const struct salt *salt, enum salted_use use);
void salted_hash_add(struct salted_hash *hash, const void *bytes, size_t len);
void salted_hash_add_number(struct salted_hash *hash, uint64_t number);
void salted_hash_end(struct salted_hash *hash, const struct salt *salt, unsigned char bytes[SALTED_BYTES]);
/* The first 63 bits of the hash: a number that fits a signed integer. */
uint64_t salted_hash_number(struct salted_hash *hash, const struct salt *salt);
uint64_t salted_number_of(const unsigned char bytes[SALTED_BYTES]);

#endif
