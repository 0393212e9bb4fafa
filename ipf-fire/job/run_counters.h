/* Counters that the threads share during a run: one thread writes, others read at any time. */
#ifndef IPF_RUN_COUNTERS_H
#define IPF_RUN_COUNTERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define THREADS_MOST 64 /* sending threads */
#define RUN_ERRORS   16 /* more than there are kinds of errors */

struct run_counters {
	/* of all sending threads together; thread_stats.h has those of each */
	atomic_llong started, in_flight, waiting, done, failed; /* done: all that ended, including the failed */
	atomic_llong due;                                       /* started, waiting, or dropped while they waited */
	atomic_llong unmeasured_done, unmeasured_failed;        /* the part of stages that are not measured */
	atomic_llong failed_by[RUN_ERRORS];        /* by enum record_error; RECORD_OK: a status that is no 2xx */
	atomic_llong pool_waiting;                 /* started, and waiting for a connection of a pool */
	atomic_llong bytes, reads;                 /* of response bodies */
	atomic_llong unrecorded, unrecorded_bytes; /* ended and not written yet */
	/* of the feeder; the sending threads subtract what they fetch */
	atomic_llong ahead, ahead_bytes; /* rendered and not fetched yet */
	atomic_llong ahead_room;         /* the most there can be */
	atomic_llong render_thread;      /* its thread_number (thread_stats.h) */
	/* of the recorder */
	atomic_llong lag_p99_ns; /* of start - due so far; -1: none yet */
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

static inline void counter_add(atomic_llong *g, int64_t value)
{
	atomic_fetch_add_explicit(g, value, memory_order_relaxed);
}

#endif
