/* Shared by the sending threads: the schedule, and which of them starts which request, and when. One dispatcher serves
 * all of them, so limits, the order of arrivals and the ends of stages hold exactly over all threads; connections,
 * timers and events belong to each thread.
 *
 *     while (!work_sharing_over(w)) {
 *         while ((job = work_sharing_next(w, thread, now))) …   // to be started by this thread, at once
 *         … work_sharing_ended(w, job);                         // once it has ended; then ask work_sharing_next again
 *         sleep until work_sharing_wake(w, thread), or until work_sharing_due_fd or work_sharing_wake_fd is readable
 *     }
 *
 * The choice of a thread:
 *  - an arrival of an open stage: the threads take turns. The timer for the next deadline is the next thread's,
 *    so each deadline wakes one thread. If that thread is busy while the deadline passes, any other that is awake
 *    takes over (work_sharing_wake).
 *  - an arrival of a closed stage taking a free slot: the thread that freed the slot, or, at the beginning, one
 *    that has fewer in flight than its share of the slots. Arrivals still start in the order of the schedule. Each
 *    thread keeps its share of the users, and no slot is idle while an arrival waits.
 *  - a follower: the thread of the request it follows, so a session stays on its connections.
 * `slots` limits all threads together, and the arrival that has waited longest gets the next one.
 *
 * There is one lock. It is taken a few times for each request, never for an event, and is held for well under a
 * microsecond.
 */
#ifndef IPF_WORK_SHARING_H
#define IPF_WORK_SHARING_H

#include "run/run_counters.h"
#include "requests/arrival_reader.h"
#include "run/feeder.h"

struct work_sharing;
struct job;

struct work_sharing_options {
	struct arrival_reader *arrivals; /* only its schedule and lanes are read */
	struct feeder *feeder;
	struct run_counters *counters;
	struct thread_stats *const *stats; /* each thread's */
	size_t threads;
	int64_t grace_ns;
	int64_t spin_ns; /* timers expire this long before the deadline */
};

/* The outcome; valid once all threads have ended. */
struct work_sharing_result {
	int64_t unstarted;      /* arrivals read and never started */
	struct ipf_error error; /* an invalid arrival, after which nothing was started; IPF_OK */
};

int work_sharing_new(struct work_sharing **sharing, const struct work_sharing_options *options, struct ipf_error *err);
void work_sharing_free(struct work_sharing *w); /* after the feeder was stopped; NULL is fine */
/* Sets the run's start on the monotonic clock, and how long before it the first stage begins (dispatch_lead; 0: not).
 * To be called before the threads begin. */
void work_sharing_begin(struct work_sharing *w, int64_t zero_ns, int64_t lead_ns);

/* ---- for thread `thread`; times from the run's start ---- */

/* The request this thread must start now; NULL: no more. */
struct job *work_sharing_next(struct work_sharing *w, size_t thread, int64_t now_ns);
/* The job has ended at job->end_ns. It is the caller's, which must ask work_sharing_next again. */
void work_sharing_ended(struct work_sharing *w, struct job *job);
/* When an awake thread must ask work_sharing_next again; INT64_MAX: unknown. A sleeping thread is woken through the
 * descriptors. */
int64_t work_sharing_wake(const struct work_sharing *w, size_t thread);
/* Is it a deadline of this thread's own timer? */
bool work_sharing_is_own_wake(const struct work_sharing *w, size_t thread);
/* A timerfd: when it expires, clear it and ask work_sharing_next. */
int work_sharing_due_fd(const struct work_sharing *w, size_t thread);
/* An eventfd: when it is readable, clear it and ask work_sharing_next, work_sharing_cancel_reason and
 * work_sharing_over. */
int work_sharing_wake_fd(const struct work_sharing *w, size_t thread);
/* Does the job belong to a measured stage? */
bool work_sharing_measured(const struct work_sharing *w, const struct job *job);
/* Nothing is in flight, and nothing more will be. */
bool work_sharing_over(const struct work_sharing *w);

/* ---- before a stage with a cold cache; for the main thread ---- */

/* An eventfd: when it is readable, nothing is in flight, and work_sharing_gate has the stage that waits (-1: none).
 * Clear it, and open the gate at a time from the run's start. */
int work_sharing_gate_fd(const struct work_sharing *w);
int64_t work_sharing_gate(struct work_sharing *w);
void work_sharing_open_gate(struct work_sharing *w, int64_t now_ns);

/* ---- ending early; for any thread ---- */

/* Starts nothing more. Requests in flight can continue for the grace period. false: it was stopped already. */
bool work_sharing_stop(struct work_sharing *w, int64_t now_ns);
/* The end of the grace period; INT64_MAX: not stopped, or already cancelled. */
int64_t work_sharing_grace_end(const struct work_sharing *w);
/* Stops, and makes all threads cancel their requests in flight. `reason` is borrowed. */
void work_sharing_cancel(struct work_sharing *w, int64_t now_ns, const char *reason);
const char *work_sharing_cancel_reason(const struct work_sharing *w); /* NULL: not cancelled */

/* ---- after the run ---- */

void work_sharing_finish(struct work_sharing *w, struct work_sharing_result *result);
int64_t work_sharing_cut_sessions(const struct work_sharing *w); /* as dispatch_cut_sessions */
/* As dispatch_stage_times. */
void work_sharing_stage_times(const struct work_sharing *w, int64_t stage, int64_t *begin_ns, int64_t *end_ns);

#endif
