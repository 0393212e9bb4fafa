/* How a large file is divided for a multipart upload, and its ETag.
 *
 * The plan depends on the size of the file alone, so a later run finds the parts of an interrupted one. Limits are
 * those of Amazon S3 and Google Cloud Storage: up to 10,000 parts, of 5 MiB to 5 GiB.
 */
#ifndef REPORT_PART_PLAN_H
#define REPORT_PART_PLAN_H

#include <stddef.h>
#include <stdint.h>

#define MULTIPART_ABOVE (INT64_C(64) << 20) /* bytes; smaller files are one request */
#define PART_LEAST      (INT64_C(16) << 20)
#define PARTS_MOST      10000
#define MD5_BYTES       16
#define ETAG_BYTES      48

/* The bytes of every part but the last: PART_LEAST, or as many MiB as 10,000 parts need. */
int64_t part_bytes_of(int64_t file_bytes);
/* 0: the file is sent in one request. */
int64_t part_count_of(int64_t file_bytes);

/* S3's ETag to an object of several parts, without quotes: the MD5 of the parts' MD5s, and their number. `md5s`:
 * MD5_BYTES for each. */
void composed_etag(const unsigned char *md5s, int64_t count, char etag[ETAG_BYTES]);

#endif
