/* Signs requests with AWS Signature Version 4.
 *
 *     struct signer_source from = signer_aws("bedrock", url);
 *     if (signer_new(&signer, &from, &err) < 0) …
 *     struct signed_request request = {.method = "POST", .url = url, .body = body, .now = time(NULL)};
 *     struct curl_slist *headers = signer_headers(signer, &request);
 *
 * A signature is valid for minutes, so each request is signed right before its start: the SHA-256 of the body, and of a
 * few short texts. libcurl can sign, too, but before 8.0 it signs neither a path with escapes nor a header list that
 * removes a header.
 */
#ifndef IPF_SIGV4_H
#define IPF_SIGV4_H

#include "buffer.h"
#include "error.h"

#include <curl/curl.h>
#include <stdbool.h>
#include <time.h>

struct signer;

/* The place of the keys, and the purpose of the signature. Names are those of variables of the environment. */
struct signer_source {
	const char *service;                            /* "bedrock", "s3" */
	const char *id_name, *secret_name, *token_name; /* token: of a session, optional; NULL: there is none */
	const char *region;                             /* NULL: AWS_REGION or AWS_DEFAULT_REGION */
	const char *url;                                /* else the region of its host, ….REGION.amazonaws.com; NULL */
	const char *use;                                /* who needs the keys, in messages: "this API requires it" */
};

/* The variables of AWS: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and optionally AWS_SESSION_TOKEN. */
struct signer_source signer_aws(const char *service, const char *url);

/* -1: IPF_USAGE if something is missing, or out of memory; free the signer all the same. */
int signer_new(struct signer **signer, const struct signer_source *from, struct ipf_error *err);
void signer_free(struct signer *s); /* leaves no key in memory; NULL is fine */

/* Does the text contain a secret of the signer? Then it is not to be shown. */
bool signer_is_repeated(const struct signer *s, struct slice text);

struct signed_request {
	const char *method;
	const char *url; /* its path and query are escaped, as RFC 3986 asks for */
	struct slice body;
	const char *body_sha256;          /* in hex, of a body that is not in memory; NULL: `body` is hashed */
	const struct curl_slist *headers; /* signed, too, and part of the result: "Name: value" each; NULL */
	time_t now;
};

/* The headers that sign a request, to be sent in addition to others of its own. For the service "s3" they include
 * X-Amz-Content-Sha256, and the path is signed as it is; all other services escape it once more. The caller frees them
 * with curl_slist_free_all. NULL: out of memory. */
struct curl_slist *signer_headers(const struct signer *s, const struct signed_request *request);

#endif
