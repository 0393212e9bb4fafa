#include "upload/part_plan.h"

#include <openssl/evp.h>
#include <stdio.h>

int64_t part_bytes_of(int64_t file_bytes)
{
	const int64_t mib = 1 << 20;
	int64_t needed = (file_bytes / PARTS_MOST + mib) / mib * mib;
	return needed > PART_LEAST ? needed : PART_LEAST;
}

int64_t part_count_of(int64_t file_bytes)
{
	int64_t bytes = part_bytes_of(file_bytes);
	return file_bytes > MULTIPART_ABOVE ? (file_bytes + bytes - 1) / bytes : 0;
}

void composed_etag(const unsigned char *md5s, int64_t count, char etag[ETAG_BYTES])
{
	unsigned char md5[EVP_MAX_MD_SIZE] = {0};
	unsigned size = 0;
	EVP_Digest(md5s, (size_t)count * MD5_BYTES, md5, &size, EVP_md5(), NULL);
	for (int i = 0; i < MD5_BYTES; i++)
		snprintf(etag + 2 * i, 3, "%02x", md5[i]);
	snprintf(etag + 2 * MD5_BYTES, ETAG_BYTES - 2 * MD5_BYTES, "-%d", (int)count);
}
