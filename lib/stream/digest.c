#include "stream/digest.h"

/* The functions without a context of the library: they allocate nothing, so no step of a digest can fail. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include <openssl/sha.h>
#include <stdlib.h>

struct digest {
	SHA256_CTX running;
};

struct digest *digest_new(void)
{
	struct digest *d = malloc(sizeof *d);
	if (d)
		SHA256_Init(&d->running);
	return d;
}

void digest_update(struct digest *d, const void *data, size_t len)
{
	SHA256_Update(&d->running, data, len);
}

void digest_hex(struct digest *d, char hex[65])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char sum[SHA256_DIGEST_LENGTH];
	SHA256_CTX copy = d->running;
	SHA256_Final(sum, &copy);
	for (int i = 0; i < 32; i++) {
		hex[2 * i] = digits[sum[i] >> 4];
		hex[2 * i + 1] = digits[sum[i] & 15];
	}
	hex[64] = '\0';
}

void digest_free(struct digest *d)
{
	free(d);
}
