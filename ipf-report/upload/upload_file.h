/* Uploads a file to a store of objects, and checks by digests it is there.
 *
 *     struct upload_file file = {.path = "chat.results.zst", .key = "runs/chat.results.zst"};
 *     if (upload_file_open(&file, &err) < 0 || upload_file_send(&file, store, &err) < 0) …
 *     upload_file_close(&file);
 *
 * Up to MULTIPART_ABOVE, a file is one request. A larger one is a multipart upload: if a run left one pending, the
 * parts that are the same by their digests are kept, and the others are sent. An upload failing is left pending, so the
 * next one goes on. An object equal to the file is not sent again.
 *
 * Every body has its Content-MD5 and, on S3, its SHA-256 in the signature and as the checksum of the object, so the
 * store refuses changed bytes. The answer's ETag is compared where it is an MD5, and at the end the object's size and
 * ETag or checksum, if the credential may read them.
 */
#ifndef REPORT_UPLOAD_FILE_H
#define REPORT_UPLOAD_FILE_H

#include "upload/store.h"

#include <sys/types.h>
#include <time.h>

struct upload_file {
	const char *path; /* for messages, too */
	char *key;        /* owned */
	int fd;
	int64_t bytes;
	struct timespec changed;
	struct progress *progress; /* NULL */

	/* The outcome. */
	int64_t parts, parts_kept; /* parts 0: one request */
	int64_t parts_there;       /* for an upload left pending */
	bool unchanged;            /* the object was there already */
	bool done;
};

/* Opens `path`, unless fd is one already (not negative). IPF_USAGE if it is no regular file. */
int upload_file_open(struct upload_file *file, struct ipf_error *err);
void upload_file_close(struct upload_file *file);
/* -1: IPF_SYSTEM; the error names the object, and says how much of it is there. */
int upload_file_send(struct upload_file *file, struct store *store, struct ipf_error *err);

#endif
