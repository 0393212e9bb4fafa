/* Requests signed as Amazon's services want it (Signature Version 4).
 *
 * A signature is good for minutes, so it is made when the request goes out, just before its start: the SHA-256 of the
 * body and a few of small texts. libcurl could sign too, but before 8.0 signs neither a path with escapes in it nor a
 * list of headers that takes one out.
 */
#ifndef IPF_SIGV4_H
#define IPF_SIGV4_H

#include "buffer.h"
#include "error.h"

#include <curl/curl.h>
#include <time.h>

struct signer;

/* For a service ("bedrock"). The keys come from the environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, where
 * there is one, AWS_SESSION_TOKEN; the region from AWS_REGION or AWS_DEFAULT_REGION, else from the URL's host
 * (….REGION.amazonaws.com). -1: IPF_USAGE for what is missing, memory. */
int signer_new(struct signer **signer, const char *service, const char *url, struct ipf_error *err);
void signer_free(struct signer *s); /* NULL is fine; leaves no key in memory */

/* The headers that sign a request, to be sent beside its own. To be freed by curl_slist_free_all; NULL: out of memory.
 */
struct curl_slist *signer_headers(const struct signer *s, const char *method, const char *url, struct slice body,
                                  time_t now);

#endif
