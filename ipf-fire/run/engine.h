/* All sending threads and their shared state. */
#ifndef IPF_ENGINE_H
#define IPF_ENGINE_H

#include "http/transport.h"
#include "job/queue.h"
#include "run/run_counters.h"
#include "run/feeder.h"
#include "run/records_header.h"
#include "run/retry_rule.h"

#include <pthread.h>

struct engine;

struct engine_options {
	struct arrival_reader *arrivals; /* only its schedule and lanes are read */
	struct feeder *feeder;
	const struct endpoint *endpoint;
	struct transport_options transport;
	const struct retry_rule *retry; /* which requests are sent again */
	size_t threads;                 /* 1 to THREADS_MOST; at most the connections of a pool */
	struct queue *const *records;   /* one for each thread, which puts ended jobs */
	struct run_counters *counters;
	struct thread_stats *const *stats; /* one for each thread */
	int signal_fd;                     /* SIGINT, SIGTERM, SIGHUP: the first stops starting, the second cancels */
	int64_t grace_ns;
	int64_t spin_ns; /* before a deadline a thread does not sleep */
};

/* Makes everything ready, and does not begin. */
int engine_open(struct engine **engine, const struct engine_options *options, struct ipf_error *err);
/* Begins: the run's start is zero_ns on the monotonic clock. If lead_ns is not 0, the first stage begins so long before
 * it. -1: none of the threads runs. */
int engine_begin(struct engine *e, int64_t zero_ns, int64_t lead_ns, struct ipf_error *err);
pthread_t engine_thread(const struct engine *e, size_t index);
int engine_wake_fd(const struct engine *e); /* an eventfd: notify it after setting counters->output_gone */
/* A stage waits for a cold cache: work_sharing.h. */
int engine_gate_fd(const struct engine *e);
int64_t engine_gate(struct engine *e);
void engine_open_gate(struct engine *e, int64_t now_ns);
int engine_done_fd(const struct engine *e); /* readable once all jobs have ended and are in the queues */
/* Starts nothing more, as at the first signal. From any thread, also before the beginning. false: it was stopped
 * already. */
bool engine_stop(struct engine *e);
void engine_finish(struct engine *e, struct run_result *result); /* joins the threads */
void engine_close(struct engine *e);                             /* after the feeder was stopped; NULL is fine */

#endif
