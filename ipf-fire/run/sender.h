/* A sending thread: one event loop over its sockets and timers and its part of the shared schedule. It never waits for
 * anything else, takes the time before it handles an event, and checks the next deadline after every event.
 */
#ifndef IPF_SENDER_H
#define IPF_SENDER_H

#include "http/transport.h"
#include "job/queue.h"
#include "job/thread_stats.h"
#include "run/retry_rule.h"
#include "run/work_sharing.h"

#include <pthread.h>

struct sender;

struct sender_options {
	struct work_sharing *sharing;
	size_t index; /* its number in `sharing`; number 0 also handles signals, the feeder and the output */
	struct feeder *feeder;
	const struct endpoint *endpoint;
	const struct transport_options *transport;
	const struct retry_rule *retry;
	struct queue *records; /* it puts ended jobs */
	struct run_counters *counters;
	struct thread_stats *stats; /* its own */
	int signal_fd;              /* for number 0: the first signal stops starting, the second cancels */
	int64_t spin_ns;            /* before a deadline it does not sleep */
};

struct sender_result {
	int signals;
	bool memory_full;
};

int sender_open(struct sender **sender, const struct sender_options *options, struct ipf_error *err);
/* Starts the thread, which calls `done` at its end. */
int sender_begin(struct sender *s, int64_t zero_ns, void (*done)(void *), void *data, struct ipf_error *err);
pthread_t sender_thread(const struct sender *s);
void sender_finish(struct sender *s, struct sender_result *result); /* joins the thread */
void sender_close(struct sender *s);                                /* NULL is fine */

#endif
