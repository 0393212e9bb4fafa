/* What a sending thread tells of itself while it sends: counters that it alone writes, and others read at their leisure
 * (run_counters.h has what all threads share). And what the kernel tells of any thread.
 */
#ifndef IPF_THREAD_STATS_H
#define IPF_THREAD_STATS_H

#include "job/run_counters.h"
#include "job/delay_histogram.h"

struct thread_stats {
	atomic_llong thread;          /* thread_number; 0: not begun */
	atomic_llong cpu_ns;          /* what it used in all, once it has ended; 0 before */
	struct delay_histogram lag;   /* start less the moment when nothing but we were missing */
	struct delay_histogram loop;  /* how late it came to a ready socket or to a due request */
	struct delay_histogram delay; /* our clock at a read less the kernel's stamp of what was read */
	atomic_llong wakes, ready,
		ready_most;        /* waits that something ended, sockets found ready by them, by one since it was last read */
	atomic_llong stamped;  /* packets (or several at once) whose stamp of the kernel's was used */
	atomic_llong without;  /* reads without one */
	atomic_llong rejected; /* reads with one that could not be */
	atomic_llong steps;    /* of the wall clock */
	atomic_llong unrendered; /* requests that had to be waited for when they were due */
	atomic_llong starved;    /* requests that could not be sent for want of files */
};

struct thread_stats *thread_stats_new(void); /* NULL: out of memory; free it */

/* Only its own thread calls these. */
static inline void thread_stats_count(atomic_llong *g, int64_t more)
{
	counter_set(g, counter_get(g) + more);
}
void thread_stats_woke(struct thread_stats *m, int ready);

/* ---- of any thread: how long it was ready to run, and did not ---- */

struct run_queue {
	int fd;          /* its schedstat; 0: not opened yet, -1: the system does not tell */
	int64_t wait_ns; /* as of the last look */
};

int64_t thread_number(void); /* the calling one's, by which others can look at it */
/* Looks again: the sum so far. What it was stays where the thread has ended. IPF_ABSENT: the system does not tell, or
 * `thread` is 0 (it has not begun). */
int64_t run_queue_look(struct run_queue *q, int64_t thread);
void run_queue_close(struct run_queue *q);

#endif
