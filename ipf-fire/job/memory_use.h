/* The memory that depends on servers and readers, and its bound (--memory): requests in flight with the received part
 * of their answers, unwritten records, and the conversations of --history live.
 *
 * Above three quarters of the bound the largest answer in flight is cut, and the next one, until the rest fits. The
 * answer cut is `leaving`: it goes once it has been recorded, so it is not counted when the next answer is judged. At
 * the bound itself, a thread whose answer grows waits for the recorder, and cuts its largest answer if another thread
 * asks for that. If the recorder does not get on, the run ends.
 *
 *     memory_use_add(m, bytes); // also negative
 *     if (memory_use_cuts(m)) … // the largest answer should go
 *     struct memory_wait wait = memory_wait_begin(m);
 *     while (memory_use_state(m) == MEMORY_FULL && memory_use_wait(m, &wait))
 *         …                     // what cannot wait
 *
 * All functions may be called by any thread. Requests are counted by job.h, each thread in its own part.
 */
#ifndef IPF_MEMORY_USE_H
#define IPF_MEMORY_USE_H

#include "run/run_counters.h"

#include <stddef.h>

#define ANSWER_SMALL 4096 /* an answer taking no more is never cut to save memory */

/* One thread's additions for the requests it handles, without a locked instruction. Another one may subtract it. */
struct memory_part {
	atomic_llong taken;   /* all of it */
	atomic_llong growing; /* by answers in flight: cutting them helps only if they have a quarter of the bound */
	atomic_llong leaving; /* by cut answers */
	char apart[64];       /* from another thread's */
};

struct memory_use {
	int64_t most;         /* the bound; 0: none */
	int64_t answer_most;  /* bytes of one answer; 0: no limit */
	atomic_llong taken;   /* any thread may add to these */
	atomic_llong written; /* grows with each record and each part of a long one: whether the recorder gets on */
	atomic_bool full;     /* the recorder did not get on: the run ends */
	/* by sending thread; the recorder's releases come after those */
	size_t threads; /* constant */
	struct memory_part parts[THREADS_MOST + 1];
	atomic_llong largest[THREADS_MOST]; /* the largest answer in flight, as far as it was noted */
	atomic_bool asked[THREADS_MOST];    /* another thread wants it to be cut */
	int wake_fd[THREADS_MOST];          /* an eventfd to notify then */
};

enum memory_state {
	MEMORY_AMPLE,
	MEMORY_SHORT, /* above three quarters of the bound without leaving answers */
	MEMORY_FULL,  /* near the bound: uncounted memory, such as buffers of libraries, may reach it */
};

void memory_use_add(struct memory_use *m, int64_t bytes);
/* The part of a sending thread, which alone may count in it. */
static inline struct memory_part *memory_use_of_sender(struct memory_use *m, size_t thread)
{
	return &m->parts[thread];
}
/* The same of the recorder. */
static inline struct memory_part *memory_use_of_recorder(struct memory_use *m)
{
	return &m->parts[THREADS_MOST];
}
int64_t memory_use_taken(const struct memory_use *m);
/* Without leaving answers. */
int64_t memory_use_staying(const struct memory_use *m);
/* Would cutting the largest answer in flight help? */
bool memory_use_cuts(const struct memory_use *m);
enum memory_state memory_use_state(const struct memory_use *m);
/* A thread waiting for the recorder to make room. */
struct memory_wait {
	int64_t begin_ns, still_ns; /* since when; since when nothing has been written */
	long long written;
};

struct memory_wait memory_wait_begin(const struct memory_use *m);
/* Waits a millisecond. false: it took too long, here or in another thread, and the run ends. */
bool memory_use_wait(struct memory_use *m, struct memory_wait *wait);

/* Asks the thread with an answer larger than `bytes` to cut it, the one with the largest. false: no other thread
 * has. */
bool memory_use_ask(struct memory_use *m, size_t thread, int64_t bytes);
/* true, once, if this thread was asked. */
bool memory_use_asked(struct memory_use *m, size_t thread);

#endif
