/* What the program tells of itself once a second, so that a reader of the records can see whether it was the limit. The members of the line
 * stand in ipf-records(5).
 */
#ifndef IPF_CLIENT_H
#define IPF_CLIENT_H

#include "buffer.h"
#include "meter.h"
#include "queue.h"

#include <jansson.h>
#include <pthread.h>

struct client;

struct client_options {
	int64_t zero_ns;              /* the run's start */
	struct gauges *gauges;
	size_t senders;               /* threads that send */
	const pthread_t *send;        /* they; good until they are joined */
	struct meter *const *meters;  /* theirs */
	struct queue *const *queues;  /* in which they hand over what has ended */
	pthread_t render;
	bool kernel_stamps;
};

/* For the thread that records. All borrowed. NULL: out of memory. */
struct client *client_new(const struct client_options *options);
void client_free(struct client *c); /* NULL is fine */

/* {"client":{…}} as of now, into `line` (cleared first). */
void client_line(struct client *c, int64_t now, struct buffer *line);
/* The same figures over all lines so far; new; NULL: out of memory. */
json_t *client_whole(const struct client *c);

#endif
