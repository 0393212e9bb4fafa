/* A thread that sends: one loop over its own sockets and timers, with an eye on what the agenda has for it. It never
 * waits for anything else, takes the time before it does anything with what came, and looks at the next deadline after
 * every event.
 */
#ifndef IPF_SENDER_H
#define IPF_SENDER_H

#include "run/work_sharing.h"
#include "job/thread_stats.h"
#include "job/queue.h"
#include "http/transport.h"

#include <pthread.h>

struct sender;

struct sender_options {
	struct work_sharing *agenda;
	size_t index; /* its number in the agenda; 0 sees to the signals, the feeder and the output as well */
	struct feeder *feeder;
	const struct endpoint *target;
	const struct transport_options *transport;
	struct queue *records; /* it puts what has ended */
	struct run_counters *gauges;
	struct thread_stats *meter; /* its own */
	size_t spares;              /* handles that lie ready */
	int signal_fd;              /* number 0's: the first signal stops starting, the second cuts */
	int64_t memory_bytes;       /* of what waits to be written, before the run is ended; 0: no limit */
	int64_t spin_ns;            /* before a deadline it does not sleep any more */
};

struct sender_result {
	int signals;
	bool memory_full;
};

int sender_open(struct sender **sender, const struct sender_options *options, struct ipf_error *err);
/* Starts the thread. `done` is called by it at its end. */
int sender_begin(struct sender *s, int64_t zero_ns, void (*done)(void *), void *data, struct ipf_error *err);
pthread_t sender_thread(const struct sender *s);
void sender_finish(struct sender *s, struct sender_result *result); /* joins it */
void sender_close(struct sender *s);                                /* NULL is fine */

#endif
