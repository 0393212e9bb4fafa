/* The requests of one sending thread waiting to be sent again (--retry). They are in flight for the dispatcher: a slot
 * stays taken, and dependent requests wait for the end of the last attempt.
 *
 *     if (retries_keep(r, job, now)) …                    // an attempt has ended: the job will be sent again
 *     else …                                              // the request has ended
 *     while ((job = retries_due(r, now))) …               // send it again; error is set: it has ended instead
 */
#ifndef IPF_RETRIES_H
#define IPF_RETRIES_H

#include "deadline_heap.h"
#include "http/transport.h"
#include "job/job.h"
#include "run/retry_rule.h"

struct retries {
	const struct retry_rule *rule;
	const struct transport_options *transport; /* its timeout and cancels hold for all attempts together */
	struct deadline_heap waiting;
};

/* Takes the job if it will be sent again: its answer is then an earlier attempt. */
bool retries_keep(struct retries *r, struct job *job);
/* The next job whose wait is over; NULL: none. If its client disconnects while it waits, it has ended with that error.
 */
struct job *retries_due(struct retries *r, int64_t now_ns);
int64_t retries_wake(const struct retries *r); /* INT64_MAX: nothing waits */
/* Removes a waiting one, whose request has ended with RECORD_CANCELLED; NULL: nothing waits. */
struct job *retries_cancel(struct retries *r, int64_t now_ns, const char *why);
void retries_release(struct retries *r); /* nothing may wait */

#endif
