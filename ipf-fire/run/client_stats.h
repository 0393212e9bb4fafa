/* What the program tells of itself once a second, so that a reader of the records can see whether it was the limit. The
 * members of the line stand in ipf-records(5).
 */
#ifndef IPF_CLIENT_STATS_H
#define IPF_CLIENT_STATS_H

#include "buffer.h"
#include "job/thread_stats.h"
#include "job/queue.h"

#include <jansson.h>
#include <pthread.h>

struct client_stats;

struct client_stats_options {
	int64_t zero_ns; /* the run's start */
	struct run_counters *gauges;
	size_t senders;                     /* threads that send */
	const pthread_t *send;              /* they; good until they are joined */
	struct thread_stats *const *meters; /* theirs */
	struct queue *const *queues;        /* in which they hand over what has ended */
	pthread_t render;
	bool kernel_timestamps;
};

/* For the thread that records. All borrowed. NULL: out of memory. */
struct client_stats *client_stats_new(const struct client_stats_options *options);
void client_stats_free(struct client_stats *c); /* NULL is fine */

/* {"client":{…}} as of now, into `line` (cleared first). */
void client_stats_line(struct client_stats *c, int64_t now, struct buffer *line);
/* The same figures over all lines so far; new; NULL: out of memory. */
json_t *client_stats_whole(const struct client_stats *c);

#endif
