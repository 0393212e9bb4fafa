/* Copies of a request (ipf-schedule(5)): the same one once more, with a prompt of its own, so that what a server
 * remembers of the others does not serve it.
 *
 *     struct copier c = {.copy = 7};
 *     copier_names(&c, &request);   // "chat-1" is "chat-1-copy07"
 *     copier_mark(&c, &request);    // "Once upon a time" is "07 Once upon a time": the first of a conversation only
 *     copier_release(&c);
 *
 * The mark has the same length for all copies: two digits and a space, which are one to three tokens, at the beginning
 * of the first text of the messages, or of the prompt. A prompt of token ids cannot be marked, one without any text
 * (pictures alone) stays as it is.
 */
#ifndef IPF_REQUEST_COPIES_H
#define IPF_REQUEST_COPIES_H

#include "stream/trace.h"

struct copier {
	int64_t copy; /* 0: none; both functions leave the request alone then */
	struct buffer names, prompt;
	struct jdoc doc;
};

/* Both put slices into the request that are good until the next call of the same function. -1: memory. */
int copier_names(struct copier *c, struct trace_request *request, struct ipf_error *err);
int copier_mark(struct copier *c, struct trace_request *request, struct ipf_error *err);
void copier_release(struct copier *c);

#endif
