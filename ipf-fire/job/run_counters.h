/* What the threads tell each other while they run: counters that one writes and others read at their leisure. */
#ifndef IPF_RUN_COUNTERS_H
#define IPF_RUN_COUNTERS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define THREADS_MOST 64 /* that send */

struct run_counters {
	/* those of all threads that send together; thread_stats.h has those of each */
	atomic_llong started, in_flight, waiting, done, failed; /* done: all that ended, failed among them */
	atomic_llong unmeasured_done, unmeasured_failed;        /* of them those of stages that are not measured */
	atomic_llong pool_waiting;                              /* started, and without a connection of a pool */
	atomic_llong bytes, reads;                              /* of bodies that came, and how many reads brought them */
	atomic_llong unrecorded, unrecorded_bytes;              /* ended and not yet written */
	/* the feeder's; given back by the engine */
	atomic_llong ahead, ahead_bytes; /* rendered and not yet fetched */
	atomic_llong ahead_room;         /* how many there may be */
	atomic_llong render_thread;      /* its number (thread_stats.h) */
	/* the recorder's */
	atomic_llong lag_p99_ns; /* of start − due so far; -1: none yet */
	atomic_bool output_gone; /* nobody reads any more, or it cannot be written */
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
