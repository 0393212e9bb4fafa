/* Digests of a part of a file, as stores of objects want them: read in pieces, both at once. */
#ifndef REPORT_FILE_DIGEST_H
#define REPORT_FILE_DIGEST_H

#include "error.h"

#include <stdint.h>

struct file_digest {
	unsigned char md5[16];
	char md5_hex[33], md5_base64[25];
	char sha256_hex[65], sha256_base64[45];
};

/* -1: the file cannot be read, has become shorter, or memory ran out. `path`: for messages. */
int file_digest(int fd, int64_t offset, int64_t bytes, const char *path, struct file_digest *digest,
                struct ipf_error *err);

#endif
