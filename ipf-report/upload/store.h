/* A bucket of Amazon S3, of a store speaking its protocol, or of Google Cloud Storage (its XML API): sends requests,
 * signed or with a token, and sends them again if they can succeed later.
 *
 *     struct store *store;
 *     if (store_open(&store, &target, &err) < 0) …
 *     struct store_request request = {.method = "PUT", .key = "a/b.html", .fd = fd, .bytes = size, …};
 *     struct store_answer answer;
 *     if (store_send(store, &request, &answer, &err) == 0 && answer.status != 200)
 *         store_refusal(store, &answer, "nightly/report.html", &err);
 *     store_answer_release(&answer);
 *     store_close(store);
 *
 * The environment says where the store is and has the credentials; see ENVIRONMENT in ipf-report(1). Memory: pieces of
 * a file, and answers up to STORE_ANSWER_MOST.
 */
#ifndef REPORT_STORE_H
#define REPORT_STORE_H

#include "cli/progress.h"
#include "upload/upload_target.h"

#include <curl/curl.h>
#include <stdint.h>

#define STORE_TRIES       6 /* a request's; pauses of 250 ms to 4 s between them, or Retry-After's */
#define STORE_ANSWER_MOST ((size_t)4 << 20)
#define STORE_TEXT        256

struct store;

/* Reads the environment, and connects to nothing. IPF_USAGE: something is missing or wrong there. `target` is borrowed.
 * Close the store all the same. */
int store_open(struct store **store, const struct upload_target *target, struct ipf_error *err);
void store_close(struct store *store); /* NULL is fine */

struct store_request {
	const char *method;
	const char *key;   /* NULL: the bucket itself */
	const char *query; /* "name=value&…", escaped (store_escape); NULL */
	const struct curl_slist *headers;
	struct slice body;         /* if fd is negative */
	int fd;                    /* the body is a part of this file; negative: `body` is */
	int64_t offset, bytes;     /* this part's */
	const char *sha256;        /* its digest, in hex */
	struct progress *progress; /* a file's; NULL */
	const char *name;          /* in the progress */
	int64_t name_bytes;        /* the whole file's */
};

struct store_answer {
	long status;
	struct buffer body;
	int64_t bytes;                /* Content-Length; IPF_ABSENT */
	char etag[STORE_TEXT];        /* without quotes; "" */
	char region[STORE_TEXT];      /* where the bucket is, if the store says so; "" */
	char sha256[STORE_TEXT];      /* X-Amz-Checksum-Sha256; "" */
	bool encrypted;               /* by a key of its own, so the ETag is not an MD5 */
	bool sha256_kept;             /* X-Amz-Checksum-Algorithm: the digests of the parts of this upload are kept */
	char code[STORE_TEXT];        /* an error's: "AccessDenied"; "" */
	char message[4 * STORE_TEXT]; /* likewise */
};

/* Appends a text as a URL has it. */
void store_escape(struct buffer *out, const char *text);

/* 0: the store answered, with any status that is not to be tried again, or still after all tries; 200 with an error in
 * its body counts as 500. -1: it did not, the file cannot be read, or memory ran out. Release the answer in any case.
 */
int store_send(struct store *store, const struct store_request *request, struct store_answer *answer,
               struct ipf_error *err);
void store_answer_release(struct store_answer *answer);

/* Sets the error of a status without success: the request, and the store's answer; IPF_SYSTEM, -1. */
int store_refusal(const struct store *store, const struct store_answer *answer, const char *key, struct ipf_error *err);

const struct upload_target *store_target(const struct store *store);

#endif
