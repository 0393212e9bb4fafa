/* Signs requests with AWS Signature Version 4.
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
#include <time.h>

struct signer;

/* Signs for a service ("bedrock"). The environment provides the keys: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and
 * optionally AWS_SESSION_TOKEN. The region is AWS_REGION or AWS_DEFAULT_REGION, else it is taken from the URL's host
 * (….REGION.amazonaws.com). -1: IPF_USAGE if something is missing, or out of memory; free the signer all the same. */
int signer_new(struct signer **signer, const char *service, const char *url, struct ipf_error *err);
void signer_free(struct signer *s); /* leaves no key in memory; NULL is fine */

/* The headers that sign a request, to be sent in addition to its own. The caller frees them with curl_slist_free_all.
 * NULL: out of memory. */
struct curl_slist *signer_headers(const struct signer *s, const char *method, const char *url, struct slice body,
                                  time_t now);

#endif
