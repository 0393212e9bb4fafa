/* Copies of a request (ipf-schedule(5)): the same request with a different beginning of its prompt, so a server's
 * prefix cache does not serve it from the others.
 *
 *     struct request_copier c = {.copy = 7};
 *     request_copier_name(&c, &request);   // "chat-1" becomes "chat-1-copy07"
 *     request_copier_mark(&c, &request);   // "Once upon a time" becomes "07 Once upon a time"; first turns only
 *     request_copier_release(&c);
 *
 * The mark has the same length for all copies: two digits and a space, one to three tokens, at the beginning of the
 * first text of the messages, of the prompt, or of each input. Token ids cannot be marked; a prompt without any text
 * (images only) stays unchanged.
 */
#ifndef IPF_REQUEST_COPIES_H
#define IPF_REQUEST_COPIES_H

#include "stream/trace.h"

struct request_copier {
	int64_t copy; /* 0: the original; both functions then leave the request unchanged */
	struct buffer names, prompt;
	struct jdoc doc;
};

/* Whether the request has text to mark, and no token ids. */
bool request_copier_can(const struct trace_request *request);
/* Both put slices into the request that are valid until the next call of the same function. -1: out of memory. */
int request_copier_name(struct request_copier *c, struct trace_request *request, struct ipf_error *err);
int request_copier_mark(struct request_copier *c, struct trace_request *request, struct ipf_error *err);
void request_copier_release(struct request_copier *c);

#endif
