/* An answer before an API descriptor reads its body: where a redirect leads, whether the body is compressed, and the
 * error message of a status other than 2xx. ipf-fire and ipf-collect say the same of an answer.
 *
 *     const struct answer_head head = {.status = 308, .headers = headers, .body = body};
 *     answer_message(&doc, &head, &text);      // "redirected to https://host/v1: use it as --url"
 *     answer_compressed(&doc, &head, &text);   // false
 */
#ifndef IPF_ANSWER_MESSAGE_H
#define IPF_ANSWER_MESSAGE_H

#include "json/jdoc.h"

struct answer_head {
	int64_t status;
	struct slice headers; /* JSON map of the recorded headers, names in lower case; absent: none was recorded */
	struct slice body;
};

/* The response headers in which servers and gateways give their own id of a request, in lower case; the first one that
 * an answer has counts. NULL ends them. */
extern const char *const answer_id_headers[];
/* Is it a status naming another URL: 301, 302, 303, 307, 308? */
bool answer_is_redirect(int64_t status);

/* Appends the message of an answer whose status is not 2xx; nothing if the answer has none. `doc` is overwritten. */
void answer_message(struct jdoc *doc, const struct answer_head *head, struct buffer *out);

/* Whether the body is compressed: by its first bytes (gzip, Zstandard), or by Content-Encoding if it is no text.
 * Appends a sentence about it. `doc` is overwritten. */
bool answer_compressed(struct jdoc *doc, const struct answer_head *head, struct buffer *out);

#endif
