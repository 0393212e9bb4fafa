#include "upload/file_digest.h"

#include "base64.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PIECE = 1 << 18 };

static int add_file(EVP_MD_CTX *const both[2], int fd, int64_t offset, int64_t bytes, const char *path,
                    struct ipf_error *err)
{
	char *piece = malloc(PIECE);
	int status = piece ? 0 : ipf_error_memory(err);
	while (status == 0 && bytes > 0) {
		ssize_t got = pread(fd, piece, bytes < PIECE ? (size_t)bytes : PIECE, offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			status = ipf_error_errno(err, errno, path, "cannot read");
		else if (got == 0)
			status = ipf_error_at(err, IPF_SYSTEM, path, 0, "has become shorter while it was uploaded");
		else if (EVP_DigestUpdate(both[0], piece, (size_t)got) != 1 ||
		         EVP_DigestUpdate(both[1], piece, (size_t)got) != 1)
			status = ipf_error_memory(err);
		offset += got;
		bytes -= got;
	}
	free(piece);
	return status;
}

static bool write_base64(const unsigned char *bytes, size_t len, char *text, size_t cap)
{
	struct buffer out = {0};
	base64_encode((struct slice){(const char *)bytes, len}, &out);
	bool good = !out.failed && out.len < cap;
	if (good)
		memcpy(text, out.data, out.len + 1);
	buffer_release(&out);
	return good;
}

static void write_hex(const unsigned char *bytes, size_t len, char *text)
{
	for (size_t i = 0; i < len; i++)
		snprintf(text + 2 * i, 3, "%02x", bytes[i]);
}

int file_digest(int fd, int64_t offset, int64_t bytes, const char *path, struct file_digest *d, struct ipf_error *err)
{
	unsigned char sha256[EVP_MAX_MD_SIZE];
	EVP_MD_CTX *const both[2] = {EVP_MD_CTX_new(), EVP_MD_CTX_new()};
	int status = -1;
	if (!both[0] || !both[1] || EVP_DigestInit_ex(both[0], EVP_md5(), NULL) != 1 ||
	    EVP_DigestInit_ex(both[1], EVP_sha256(), NULL) != 1)
		ipf_error_memory(err);
	else if (add_file(both, fd, offset, bytes, path, err) == 0) {
		status = EVP_DigestFinal_ex(both[0], d->md5, NULL) == 1 && EVP_DigestFinal_ex(both[1], sha256, NULL) == 1 &&
		                 write_base64(d->md5, sizeof d->md5, d->md5_base64, sizeof d->md5_base64) &&
		                 write_base64(sha256, 32, d->sha256_base64, sizeof d->sha256_base64)
		             ? 0
		             : ipf_error_memory(err);
		write_hex(d->md5, sizeof d->md5, d->md5_hex);
		write_hex(sha256, 32, d->sha256_hex);
	}
	EVP_MD_CTX_free(both[0]);
	EVP_MD_CTX_free(both[1]);
	return status;
}
