/* The recorded answer of a request, which the server gives token by token (ipf-fire --answers recorded).
 */
#ifndef IPF_RECORDED_ANSWER_H
#define IPF_RECORDED_ANSWER_H

#include "stream/trace.h"

/* Has the request its answer as token ids, as many as it asks for? A canary needs none, because its answer is the
 * model's own: do not check it. -1 (IPF_INPUT): the error names the member. */
int recorded_answer_check(const struct trace_request *request, struct ipf_error *err);

#endif
