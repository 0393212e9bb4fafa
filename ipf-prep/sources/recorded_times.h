/* The latencies of a recorded request in production: from its start to the first token, and to the end of the answer.
 *
 *     struct recorded_times times = RECORDED_TIMES_NONE;
 *     … times.e2e_ns = end_ns - start_ns; …
 *     if (recorded_times_set(r, &times, err) < 0)
 *         return -1;
 *
 * A log has them from its own observer: a gateway, the server, or a client. Only a request with a complete answer has
 * them. The time to the first byte of a response is not the time to its first token: many servers send the headers at
 * once.
 */
#ifndef PREP_RECORDED_TIMES_H
#define PREP_RECORDED_TIMES_H

#include "absent.h"
#include "draft/draft.h"

/* IPF_ABSENT: not recorded. */
struct recorded_times {
	int64_t ttft_ns, e2e_ns;
	bool streamed; /* the answer certainly was: a first token at the very end is one */
};
#define RECORDED_TIMES_NONE ((struct recorded_times){IPF_ABSENT, IPF_ABSENT, false})

/* Sets those of a request that did not fail and whose client stayed; other requests get none. A first token at the very
 * end, of an answer not known to have one token, is that of an answer that was not streamed: it is left out. -1:
 * IPF_INPUT for a negative one, for one above a year, and for a first token after the end. */
int recorded_times_set(struct draft_request *r, const struct recorded_times *times, struct ipf_error *err);

/* The same for times of several clocks, and for logs that round each by itself: impossible ones are left out. */
void recorded_times_set_possible(struct draft_request *r, const struct recorded_times *times);

#endif
