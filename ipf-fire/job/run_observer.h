/* Lets another program in the same process follow a run: each event of a request, when it happens.
 *
 * started, first_byte and received are called by the sending thread with the request, of which there may be several,
 * and delay it; ended by the recording thread. Functions may be NULL; so may the observer.
 */
#ifndef IPF_RUN_OBSERVER_H
#define IPF_RUN_OBSERVER_H

#include "job/job.h"

struct run_observer {
	void *data;
	void (*started)(void *data, const struct job *job);
	void (*first_byte)(void *data, const struct job *job);
	/* Bytes of the body, which came at t_ns. */
	void (*received)(void *data, const struct job *job, int64_t t_ns, struct slice bytes);
	void (*ended)(void *data, struct slice record); /* a line of the records */
	int stop_fd; /* a struct signalfd_siginfo read from it has the effect of a signal */
};

static inline void run_observer_started(const struct run_observer *o, const struct job *job)
{
	if (__builtin_expect(o != NULL, 0) && o->started)
		o->started(o->data, job);
}

static inline void run_observer_first_byte(const struct run_observer *o, const struct job *job)
{
	if (__builtin_expect(o != NULL, 0) && o->first_byte)
		o->first_byte(o->data, job);
}

static inline void run_observer_received(const struct run_observer *o, const struct job *job, int64_t t_ns,
                                         struct slice bytes)
{
	if (__builtin_expect(o != NULL, 0) && o->received)
		o->received(o->data, job, t_ns, bytes);
}

#endif
