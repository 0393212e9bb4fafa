/* Bodies of requests and responses of the usual APIs, as logs and batches have them: OpenAI's chat completions,
 * completions and Responses, Anthropic's Messages, Gemini's generateContent. A body is recognised by its members.
 *
 *     int got = api_request_body(d, &body, JDOC_ROOT, &err);   // adds a request to the draft
 *     if (got == 1)
 *         got = api_response_body(d, &answer, JDOC_ROOT, &d->requests[0], &err);
 *
 * Messages become those of the chat API: tool calls and their results, too.
 */
#ifndef PREP_API_BODIES_H
#define PREP_API_BODIES_H

#include "sources/source.h"

/* Adds a request from the body (an object) as posted: 1; 0 if there are neither messages nor a prompt in it; -1. */
int api_request_body(struct draft *d, const struct jdoc *j, jdoc_id body, struct ipf_error *err);
/* The same for the body of a request for embeddings. */
int api_embeddings_body(struct draft *d, const struct jdoc *j, jdoc_id body, struct ipf_error *err);
/* Adds the answer of a response (an object), or of an event of its stream, to a request: its text, the lengths of its
 * usage, whether it is an error. Missing members stay as they were. 0 or -1. */
int api_response_body(struct draft *d, const struct jdoc *j, jdoc_id body, struct draft_request *r,
                      struct ipf_error *err);

#endif
