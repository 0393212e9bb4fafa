#include "run/retries.h"

#include "absent.h"

#include <stddef.h>

static struct job *job_of(struct deadline_entry *entry)
{
	return entry ? ((struct job_attempts *)(void *)((char *)entry - offsetof(struct job_attempts, again)))->job : NULL;
}

/* Is there time for another attempt? */
static bool in_time(const struct retries *r, const struct job *job, int64_t wait_ns)
{
	int64_t timeout_ns = r->transport->timeout_ns;
	return !timeout_ns || job->end_ns + wait_ns < job_first_start(job) + timeout_ns;
}

bool retries_keep(struct retries *r, struct job *job)
{
	bool connect = job->error == RECORD_CONNECT;
	if (!r->rule->most || (job->error != RECORD_OK && !connect) || !retry_rule_applies(r->rule, connect, job->status))
		return false;
	int64_t wait_ns = retry_rule_wait(r->rule, job->arrival.n, job_attempts_count(job) + 1, job->retry_after_ns);
	if (wait_ns == IPF_ABSENT || !in_time(r, job, wait_ns))
		return false;
	int64_t leaves_ns = transport_hang_up(r->transport, job), due_ns = job->end_ns + wait_ns;
	if (!job_may_repeat(job))
		return false; /* without memory it ends here */
	job->earlier->again.order = job->arrival.n;
	if (!deadline_heap_set(&r->waiting, &job->earlier->again, leaves_ns < due_ns ? leaves_ns : due_ns))
		return false;
	job_attempted(job, wait_ns);
	return true;
}

static void end(struct job *job, enum record_error error, const char *why, int64_t now_ns)
{
	job->end_ns = now_ns;
	job_fail(job, error, why);
}

struct job *retries_due(struct retries *r, int64_t now_ns)
{
	struct job *job = job_of(deadline_heap_first(&r->waiting));
	if (!job || job->earlier->again.at_ns > now_ns)
		return NULL;
	deadline_heap_remove(&r->waiting, &job->earlier->again);
	if (transport_hang_up(r->transport, job) <= now_ns)
		end(job, RECORD_HUNG_UP, "the client disconnected while it waited to send the request again", now_ns);
	return job;
}

int64_t retries_wake(const struct retries *r)
{
	const struct deadline_entry *first = deadline_heap_first(&r->waiting);
	return first ? first->at_ns : INT64_MAX;
}

struct job *retries_cancel(struct retries *r, int64_t now_ns, const char *why)
{
	struct job *job = job_of(deadline_heap_first(&r->waiting));
	if (!job)
		return NULL;
	deadline_heap_remove(&r->waiting, &job->earlier->again);
	end(job, RECORD_CANCELLED, why, now_ns);
	return job;
}

void retries_release(struct retries *r)
{
	deadline_heap_release(&r->waiting);
}
