/* A multipart upload an earlier run left pending: its id, and its parts of the file.
 *
 *     struct pending_upload pending = {0};
 *     if (pending_upload_init(&pending, count, &err) < 0 || pending_upload_find(store, key, &pending, &err) < 0) …
 *     if (pending.id) … pending.parts[i].bytes …
 *     pending_upload_release(&pending);
 *
 * The store is not believed: the parts it lists are compared with the file by their digests.
 */
#ifndef REPORT_PENDING_UPLOAD_H
#define REPORT_PENDING_UPLOAD_H

#include "upload/file_digest.h"
#include "upload/store.h"

#define UPLOAD_ID_MOST 1024

struct pending_part {
	int64_t bytes;   /* 0: the store does not have it */
	char etag[64];   /* without quotes */
	char sha256[64]; /* base64; "" */
};

struct pending_upload {
	char *id;                   /* NULL: there is none */
	bool sha256_kept;           /* it keeps the SHA-256 of parts, and wants them when it is completed */
	struct pending_part *parts; /* `count` */
	int64_t count;
};

/* Begins with no part of `count`. -1: out of memory. */
int pending_upload_init(struct pending_upload *pending, int64_t count, struct ipf_error *err);
/* Finds the latest upload of the key, and its parts. A store that does not tell, such as one whose credential may only
 * write, has none. -1: it did not answer, or memory ran out. */
int pending_upload_find(struct store *store, const char *key, struct pending_upload *pending, struct ipf_error *err);
void pending_upload_release(struct pending_upload *pending);

/* Is this part of the upload, from 0, these bytes? */
bool pending_upload_has(const struct pending_upload *pending, int64_t part, int64_t bytes,
                        const struct file_digest *digest);

/* The answers' values, as bytes that are not trusted. The identity of the latest upload of the key, which the caller
 * frees; NULL: there is none. */
char *pending_upload_latest(struct slice xml, const char *key);
/* Takes over the parts of a page, of which *last becomes the greatest number. 1: there are more; 0; -1: it is no XML.
 */
int pending_upload_read_parts(struct slice xml, struct pending_upload *pending, int64_t *last);

#endif
