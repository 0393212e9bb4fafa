#include "anonymize/salt.h"

#include "key_file.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>

enum { HASH_BLOCK = SHA256_CBLOCK }; /* bytes that the hash takes at a time */

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
	const unsigned char first = (unsigned char)use;
	hash->running = salt->inner;
	SHA256_Update(&hash->running, &first, 1);
}

void salted_hash_add(struct salted_hash *hash, const void *bytes, size_t len)
{
	SHA256_Update(&hash->running, bytes, len);
}

void salted_hash_add_number(struct salted_hash *hash, uint64_t number)
{
	unsigned char bytes[8];
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (unsigned char)(number >> 8 * i);
	SHA256_Update(&hash->running, bytes, sizeof bytes);
}

void salted_hash_end(struct salted_hash *hash, const struct salt *salt, unsigned char bytes[SALTED_BYTES])
{
	unsigned char inner[SALTED_BYTES];
	SHA256_Final(inner, &hash->running);
	hash->running = salt->outer;
	SHA256_Update(&hash->running, inner, sizeof inner);
	SHA256_Final(bytes, &hash->running);
}

uint64_t salted_number_of(const unsigned char bytes[SALTED_BYTES])
{
	uint64_t number = 0;
	for (size_t i = 0; i < sizeof number; i++)
		number = number << 8 | bytes[i];
	return number >> 1;
}

uint64_t salted_hash_number(struct salted_hash *hash, const struct salt *salt)
{
	unsigned char bytes[SALTED_BYTES];
	salted_hash_end(hash, salt, bytes);
	return salted_number_of(bytes);
}
