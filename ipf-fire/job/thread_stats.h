/* A sending thread's counters of itself: it alone writes, others read at any time (run_counters.h has the shared ones).
 * And how long any thread was kept waiting for a processor.
 */
#ifndef IPF_THREAD_STATS_H
#define IPF_THREAD_STATS_H

#include "run/run_counters.h"
#include "job/delay_histogram.h"

struct thread_stats {
	atomic_llong thread;          /* thread_number; 0: not started */
	atomic_llong cpu_ns;          /* processor time in all, set when the thread ends; 0 before */
	struct delay_histogram lag;   /* start minus the time when a request only waited for us */
	struct delay_histogram loop;  /* delay until a ready socket or a due request was handled */
	struct delay_histogram delay; /* our clock at a read minus the kernel's timestamp of its bytes */
	/* waits ended by an event, sockets that were ready after them, most of those after one wait (reset when read) */
	atomic_llong wakes, ready, ready_most;
	atomic_llong stamped;         /* packets, or groups of them, whose kernel timestamp was used */
	atomic_llong without;         /* reads without a kernel timestamp */
	atomic_llong rejected;        /* reads with an impossible one */
	atomic_llong steps;           /* the wall clock's */
	atomic_llong unrendered;      /* requests due before they were rendered */
	atomic_llong starved;         /* requests not sent, as open files ran out */
	atomic_llong syn_retransmits; /* connections established only once a SYN had been sent again */
};

struct thread_stats *thread_stats_new(void); /* NULL: out of memory; free it */

/* Only the thread itself calls this. */
void thread_stats_woke(struct thread_stats *t, int ready);

/* ---- how long a thread was ready to run but did not run ---- */

struct run_queue {
	int fd;          /* the thread's schedstat; 0: not opened yet, -1: the system has none */
	int64_t wait_ns; /* as of the last look */
};

int64_t thread_number(void); /* the calling thread's, for others to look at it */
/* The sum so far; after the thread has ended, its last value. IPF_ABSENT: the system does not report it, or `thread` is
 * 0 (it has not started). */
int64_t run_queue_look(struct run_queue *q, int64_t thread);
void run_queue_close(struct run_queue *q);

#endif
