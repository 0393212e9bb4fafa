/* The program's report about itself once a second, so a reader of the records can see whether it was the bottleneck.
 * ipf-records(5) has the members of the line.
 */
#ifndef IPF_CLIENT_STATS_H
#define IPF_CLIENT_STATS_H

#include "buffer.h"
#include "job/queue.h"
#include "job/thread_stats.h"
#include "run/server_dates.h"

#include <jansson.h>
#include <pthread.h>

struct client_stats;

/* All borrowed. */
struct client_stats_options {
	int64_t zero_ns; /* the run's start */
	struct run_counters *counters;
	size_t senders;                    /* sending threads */
	const pthread_t *send;             /* each of them; valid until they are joined */
	struct thread_stats *const *stats; /* each thread's */
	struct queue *const *queues;       /* in which each hands over ended jobs */
	pthread_t render;
	bool kernel_timestamps;
};

/* For the recording thread. NULL: out of memory. */
struct client_stats *client_stats_new(const struct client_stats_options *options);
void client_stats_free(struct client_stats *c); /* NULL is fine */

/* Writes {"client":{…}} as of now, with the dates, which it empties, into `line` (cleared first). */
void client_stats_line(struct client_stats *c, int64_t now, struct server_dates *dates, struct buffer *line);
/* The same figures over all lines so far. New; NULL: out of memory. */
json_t *client_stats_whole(const struct client_stats *c);

#endif
