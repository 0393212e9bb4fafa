#include "stream/digest.h"

#include <openssl/evp.h>
#include <stdlib.h>

struct digest {
	EVP_MD_CTX *running, *copy;
};

struct digest *digest_new(void)
{
	struct digest *d = calloc(1, sizeof *d);
	if (!d)
		return NULL;
	d->running = EVP_MD_CTX_new();
	d->copy = EVP_MD_CTX_new();
	if (!d->running || !d->copy || !EVP_DigestInit_ex(d->running, EVP_sha256(), NULL)) {
		digest_free(d);
		return NULL;
	}
	return d;
}

void digest_update(struct digest *d, const void *data, size_t len)
{
	EVP_DigestUpdate(d->running, data, len);
}

void digest_hex(struct digest *d, char hex[65])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char sum[EVP_MAX_MD_SIZE] = {0};
	EVP_MD_CTX_copy_ex(d->copy, d->running);
	EVP_DigestFinal_ex(d->copy, sum, NULL);
	for (int i = 0; i < 32; i++) {
		hex[2 * i] = digits[sum[i] >> 4];
		hex[2 * i + 1] = digits[sum[i] & 15];
	}
	hex[64] = '\0';
}

void digest_free(struct digest *d)
{
	if (!d)
		return;
	EVP_MD_CTX_free(d->running);
	EVP_MD_CTX_free(d->copy);
	free(d);
}
