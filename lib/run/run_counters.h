/* Counters the threads share during a run. Each has one writer at a time, so counting needs no locked instruction;
 * others read at any time. Counters of every sending thread, which readers add up:
 *
 *     counter_count(&counters->senders[thread].done, 1); // the sending thread `thread`
 *     counters_sum(counters, done)                       // any thread
 */
#ifndef IPF_RUN_COUNTERS_H
#define IPF_RUN_COUNTERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREADS_MOST 64 /* sending threads */
#define RUN_ERRORS   16 /* more than there are kinds of errors */

/* One sending thread's; thread_stats.h has its counters of itself. */
struct sender_counters {
	atomic_llong started, done, failed;              /* done: all that ended; failed: see counters_failed() */
	atomic_llong unmeasured_done, unmeasured_failed; /* the part of unmeasured stages */
	atomic_llong failed_by[RUN_ERRORS];              /* by enum record_error; RECORD_OK: a status that is no 2xx */
	atomic_llong pool_waiting;                       /* started, and waiting for a connection of a pool */
	atomic_llong bytes, reads;                       /* response bodies' */
	atomic_llong handed_over, handed_over_bytes;     /* to the recorder */
	char apart[64];                                  /* from those that another thread writes */
};

struct run_counters {
	struct sender_counters senders[THREADS_MOST];
	size_t threads; /* how many of them there are; constant */
	/* the senders together's, which write them under the lock of work_sharing */
	atomic_llong in_flight, waiting;
	atomic_llong due; /* started, waiting, or dropped while they waited */
	atomic_llong fetched, fetched_bytes;
	/* --stop-after-failures: of the first requests, those that have not started yet; those that ended and failed, or
	 * did not fail. Several threads write them, as long as there are any. */
	atomic_llong first_left, first_failed, first_other;
	char apart[64];
	/* the feeder's */
	atomic_llong rendered, rendered_bytes; /* for senders to fetch */
	atomic_llong ahead_room;               /* the most that can be rendered and not fetched */
	atomic_llong render_thread;            /* its thread_number (thread_stats.h) */
	char apart_too[64];
	/* the recorder's */
	atomic_llong resent;           /* requests sent again after a stale connection; without the warm-up */
	atomic_llong retried, retries; /* --retry: requests that were retried, and how often; the same */
	atomic_llong recorded, recorded_bytes;
	/* Requests whose transfer failed within an answer, which the sending thread cannot judge: failed, or complete by
	 * their end mark (api/early_end.h). */
	atomic_llong broken, unmeasured_broken, broken_by[RUN_ERRORS];
	atomic_llong early_ends; /* without the warm-up */
	atomic_llong lag_p99_ns; /* the p99 of start - due so far; -1: none yet */
	atomic_bool output_gone; /* the output was closed, or cannot be written */
};

static inline int64_t counter_get(const atomic_llong *g)
{
	return atomic_load_explicit((atomic_llong *)g, memory_order_relaxed);
}

static inline void counter_set(atomic_llong *g, int64_t value)
{
	atomic_store_explicit(g, value, memory_order_relaxed);
}

/* For its only writer. */
static inline void counter_count(atomic_llong *g, int64_t more)
{
	counter_set(g, counter_get(g) + more);
}

/* For one of several writers. */
static inline void counter_add(atomic_llong *g, int64_t value)
{
	atomic_fetch_add_explicit(g, value, memory_order_relaxed);
}

#define counters_sum(counters_, member_) counters_sum_at(counters_, offsetof(struct sender_counters, member_))

static inline int64_t counters_sum_at(const struct run_counters *c, size_t member)
{
	int64_t sum = 0;
	for (size_t i = 0; i < c->threads; i++)
		sum += counter_get((const atomic_llong *)(const void *)((const char *)&c->senders[i] + member));
	return sum;
}

/* All that failed so far; a failure within an answer counts once it is recorded. */
static inline int64_t counters_failed(const struct run_counters *c)
{
	int64_t broken = counter_get(&c->broken);
	return counters_sum(c, failed) + broken;
}

/* Ended and not written yet: requests, and the bytes they take. */
static inline int64_t counters_unrecorded(const struct run_counters *c)
{
	int64_t recorded = counter_get(&c->recorded); /* first: it follows */
	return counters_sum(c, handed_over) - recorded;
}

static inline int64_t counters_unrecorded_bytes(const struct run_counters *c)
{
	int64_t recorded = counter_get(&c->recorded_bytes);
	return counters_sum(c, handed_over_bytes) - recorded;
}

#endif
