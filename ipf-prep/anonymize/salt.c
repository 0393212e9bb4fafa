#include "anonymize/salt.h"

#include "key_file.h"

#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

enum { HASH_BLOCK = SHA256_CBLOCK }; /* bytes the hash takes at a time */

void salt_init(struct salt *salt, const void *bytes, size_t len)
{
	unsigned char key[HASH_BLOCK] = {0}, pad[HASH_BLOCK];
	if (len > sizeof key)
		SHA256(bytes, len, key);
	else
		memcpy(key, bytes, len);
	for (size_t i = 0; i < sizeof pad; i++)
		pad[i] = key[i] ^ 0x36;
	SHA256_Init(&salt->inner);
	SHA256_Update(&salt->inner, pad, sizeof pad);
	for (size_t i = 0; i < sizeof pad; i++)
		pad[i] = key[i] ^ 0x5c;
	SHA256_Init(&salt->outer);
	SHA256_Update(&salt->outer, pad, sizeof pad);
	explicit_bzero(key, sizeof key);
	explicit_bzero(pad, sizeof pad);
}

static int check(const char *path, const char *bytes, size_t len, struct ipf_error *err)
{
	if (len < SALT_LEAST)
		return ipf_error_at(err, IPF_INPUT, path, 0,
		                    "--salt-file: expected %d to %d bytes, got %zu: head -c 32 /dev/urandom makes a salt",
		                    SALT_LEAST, SALT_MOST, len);
	if (len > SALT_MOST)
		return ipf_error_at(err, IPF_INPUT, path, 0, "--salt-file: expected %d to %d bytes, got more", SALT_LEAST,
		                    SALT_MOST);
	if (memcmp(bytes, bytes + 1, len - 1) == 0)
		return ipf_error_at(err, IPF_INPUT, path, 0, "--salt-file: expected random bytes, got byte 0x%02x %zu times",
		                    (unsigned char)bytes[0], len);
	return 0;
}

int salt_read(struct salt *salt, const char *path, bool *shared, struct ipf_error *err)
{
	char bytes[SALT_MOST + 2];
	size_t len;
	struct stat st;
	*shared = stat(path, &st) == 0 && (st.st_mode & (S_IRGRP | S_IROTH));
	if (key_file_read(path, bytes, sizeof bytes, &len, err) < 0)
		return -1;
	int status = check(path, bytes, len, err);
	if (status == 0)
		salt_init(salt, bytes, len);
	explicit_bzero(bytes, sizeof bytes);
	return status;
}

int salt_make(struct salt *salt, struct ipf_error *err)
{
	unsigned char bytes[32];
	if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
		return ipf_error_errno(err, errno, NULL, "cannot get random bytes for a salt");
	salt_init(salt, bytes, sizeof bytes);
	explicit_bzero(bytes, sizeof bytes);
	return 0;
}

void salt_release(struct salt *salt)
{
	explicit_bzero(salt, sizeof *salt);
}

void salted_hash_begin(struct salted_hash *hash, const struct salt *salt, enum salted_use use)
{
	hash->running = salt->inner;
	hash->pending[0] = (unsigned char)use;
	hash->pending_len = 1;
	hash->bytes = HASH_BLOCK + 1;
}

void salted_hash_add(struct salted_hash *hash, const void *bytes, size_t len)
{
	const unsigned char *from = bytes;
	hash->bytes += len;
	while (len >= HASH_BLOCK - hash->pending_len) {
		size_t now = HASH_BLOCK - hash->pending_len;
		memcpy(hash->pending + hash->pending_len, from, now);
		SHA256_Transform(&hash->running, hash->pending);
		hash->pending_len = 0;
		from += now;
		len -= now;
	}
	if (len > 0)
		memcpy(hash->pending + hash->pending_len, from, len);
	hash->pending_len += len;
}

void salted_hash_add_number(struct salted_hash *hash, uint64_t number)
{
	number = htole64(number);
	salted_hash_add(hash, &number, sizeof number);
}

/* The end of a message, as FIPS 180-4 has it: a bit of 1, zeros, and the number of bits in the last eight bytes. */
static void end_message(struct salted_hash *hash, unsigned char digest[SALTED_BYTES])
{
	enum { ROOM = HASH_BLOCK - 8 };
	hash->pending[hash->pending_len++] = 0x80;
	if (hash->pending_len > ROOM) {
		memset(hash->pending + hash->pending_len, 0, HASH_BLOCK - hash->pending_len);
		SHA256_Transform(&hash->running, hash->pending);
		hash->pending_len = 0;
	}
	memset(hash->pending + hash->pending_len, 0, ROOM - hash->pending_len);
	const uint64_t bits = htobe64(hash->bytes * 8);
	memcpy(hash->pending + ROOM, &bits, sizeof bits);
	SHA256_Transform(&hash->running, hash->pending);
	for (size_t i = 0; i < SALTED_BYTES / 4; i++) {
		const uint32_t word = htobe32(hash->running.h[i]);
		memcpy(digest + 4 * i, &word, sizeof word);
	}
}

void salted_hash_end(struct salted_hash *hash, const struct salt *salt, unsigned char bytes[SALTED_BYTES])
{
	end_message(hash, hash->pending);
	hash->running = salt->outer;
	hash->pending_len = SALTED_BYTES;
	hash->bytes = HASH_BLOCK + SALTED_BYTES;
	end_message(hash, bytes);
}

uint64_t salted_number_of(const unsigned char bytes[SALTED_BYTES])
{
	uint64_t number;
	memcpy(&number, bytes, sizeof number);
	return be64toh(number) >> 1;
}

uint64_t salted_hash_number(struct salted_hash *hash, const struct salt *salt)
{
	unsigned char bytes[SALTED_BYTES];
	salted_hash_end(hash, salt, bytes);
	return salted_number_of(bytes);
}
