/* What the sending threads share: who starts what, and when. One dispatcher for all of them, so that limits, the order
 * of arrivals and the stages' ends hold over all threads exactly; each thread's connections, timers and events are its
 * own.
 *
 *     while (!work_sharing_over(a)) {
 *         while ((job = work_sharing_next(a, thread, now))) …   // to be started by this thread, at once
 *         … work_sharing_ended(a, job);                         // when it has ended; look at work_sharing_next again
 *         sleep until work_sharing_wake(a, thread), or work_sharing_due_fd or work_sharing_call_fd says something
 *     }
 *
 * Who starts what:
 *  - an arrival of an open stage: the thread whose turn it is. Turns go round, and the timer for the next deadline is
 * the next thread's, so that each deadline wakes one thread. One that is busy while its deadline passes is stood in for
 * by any other that happens to be awake (work_sharing_wake).
 *  - an arrival of a closed stage that takes a free slot: the thread that freed it, or, at the beginning, one that has
 * fewer in flight than its share of the slots. What it starts is next in the order of the schedule. So each thread
 * keeps its share of the users, and no slot lies idle for being in the wrong place.
 *  - what comes after another request: the thread of that one, so that a session stays with its connections.
 * `slots` is one number for all threads, and whoever waits longest gets the next.
 *
 * There is one lock. It is taken a few times for each request, never for an event, and is held for well under a
 * microsecond.
 */
#ifndef IPF_WORK_SHARING_H
#define IPF_WORK_SHARING_H

#include "run/feeder.h"
#include "job/run_counters.h"
#include "run/arrival_reader.h"

struct work_sharing;
struct job;

struct work_sharing_options {
	struct arrival_reader *plan; /* its schedule and lanes only */
	struct feeder *feeder;
	struct run_counters *gauges;
	struct thread_stats *const *meters; /* of each thread */
	size_t threads;
	int64_t grace_ns;
	int64_t spin_ns; /* timers go off so long before the deadline */
};

/* How it went; good once all threads have ended. */
struct work_sharing_result {
	int64_t unstarted;      /* arrivals that were read and never started */
	struct ipf_error error; /* an arrival that makes no sense: nothing was started after it; IPF_OK */
};

int work_sharing_new(struct work_sharing **agenda, const struct work_sharing_options *options, struct ipf_error *err);
void work_sharing_free(struct work_sharing *a); /* after the feeder was stopped; NULL is fine */
/* The run's start on the monotonic clock, and how long before it the first stage begins (dispatch_lead); before the
 * threads begin. */
void work_sharing_begin(struct work_sharing *a, int64_t zero_ns, int64_t lead_ns);

/* ---- for the thread of that number; times from the run's start ---- */

/* What this thread has to start now; NULL: nothing more. */
struct job *work_sharing_next(struct work_sharing *a, size_t thread, int64_t now_ns);
/* It has ended at job->end_ns. The job is the caller's, and work_sharing_next has to be asked again. */
void work_sharing_ended(struct work_sharing *a, struct job *job);
/* From when on work_sharing_next is to be asked again, by a thread that is awake; the descriptors wake one that sleeps.
 * INT64_MAX: not known. */
int64_t work_sharing_wake(const struct work_sharing *a, size_t thread);
/* That is the end of a wait of this thread's own: its timer goes off spin_ns before it. */
bool work_sharing_own(const struct work_sharing *a, size_t thread);
int work_sharing_due_fd(const struct work_sharing *a,
                        size_t thread); /* a timer: read it, and look at work_sharing_next */
int work_sharing_call_fd(
	const struct work_sharing *a,
	size_t thread); /* an eventfd: read it, look at work_sharing_next, work_sharing_cut_why, work_sharing_over */
/* Is it of a stage that is measured? */
bool work_sharing_measured(const struct work_sharing *a, const struct job *job);
/* Nothing is in flight, and nothing will be. */
bool work_sharing_over(const struct work_sharing *a);

/* ---- ending before the time ---- */

/* Starts nothing any more. What is in flight may go on for the time of grace. false: that was so already. For any
 * thread. */
bool work_sharing_stop(struct work_sharing *a, int64_t now_ns);
int64_t work_sharing_grace_end(const struct work_sharing *a); /* INT64_MAX: not stopped, or cut already */
/* Stops, and tells all threads to end what they have in flight. `why` has to stay. */
void work_sharing_cut(struct work_sharing *a, int64_t now_ns, const char *why);
const char *work_sharing_cut_why(const struct work_sharing *a); /* NULL: not cut */

/* ---- after the run ---- */

void work_sharing_finish(struct work_sharing *a, struct work_sharing_result *result);
/* As dispatch_stage_times. */
void work_sharing_stage_times(const struct work_sharing *a, int64_t stage, int64_t *begin_ns, int64_t *end_ns);

#endif
