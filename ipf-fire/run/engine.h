/* All that sends: the sending threads and what they share. */
#ifndef IPF_ENGINE_H
#define IPF_ENGINE_H

#include "run/feeder.h"
#include "job/run_counters.h"
#include "job/queue.h"
#include "http/transport.h"

#include <pthread.h>

struct engine;

struct engine_options {
	struct arrival_reader *plan; /* its schedule and lanes only */
	struct feeder *feeder;
	const struct endpoint *target;
	struct transport_options transport;
	size_t threads;               /* 1 to THREADS_MOST; no more than a pool of connections has */
	struct queue *const *records; /* one for each thread, which puts what has ended */
	struct run_counters *gauges;
	struct thread_stats *const *meters; /* one of each thread */
	int signal_fd;                      /* SIGINT, SIGTERM, SIGHUP: the first stops starting, the second cuts */
	int64_t grace_ns;
	int64_t spin_ns;      /* how long before a deadline a thread does not sleep any more */
	int64_t memory_bytes; /* of what waits to be written, before the run is ended; 0: no limit */
};

/* How the run went. */
struct engine_result {
	int signals; /* how many came */
	bool memory_full;
	const char *stopped;    /* why it was ended before its time, other than by signals and memory: the caller's; NULL */
	int64_t starved;        /* requests that could not be sent because files ran out */
	int64_t unstarted;      /* arrivals that were read and never started */
	struct ipf_error error; /* an arrival that makes no sense: nothing was started after it; IPF_OK */
	int64_t *stage_begin_ns, *stage_end_ns; /* in run time, IPF_ABSENT where unknown; free them */
};

/* Makes everything ready but does not begin: engine_begin does, and the run's start is zero_ns on the monotonic clock.
 * The first stage begins lead_ns before it, where that is not 0. */
int engine_open(struct engine **engine, const struct engine_options *options, struct ipf_error *err);
/* -1: none of the threads runs. */
int engine_begin(struct engine *e, int64_t zero_ns, int64_t lead_ns, struct ipf_error *err);
pthread_t engine_thread(const struct engine *e, size_t index);
int engine_wake_fd(const struct engine *e); /* written to after gauges->output_gone was set */
int engine_done_fd(const struct engine *e); /* readable when all has ended and was put into the queues */
/* Starts nothing any more, as at the first signal, from any thread; also before it has begun. false: that was so
 * already. */
bool engine_stop(struct engine *e);
void engine_finish(struct engine *e, struct engine_result *result); /* joins the threads */
void engine_close(struct engine *e);                                /* after the feeder was stopped; NULL is fine */

#endif
