/* Requests waiting to be sent to one target, the oldest first; bounded in number and bytes.
 *
 *     push_queue_put(&queue, &request);            // takes the bytes; drops the oldest for it if there is no room
 *     struct push_request *next = push_queue_first(&queue);
 *     push_queue_pop(&queue);
 */
#ifndef IPF_PUSH_QUEUE_H
#define IPF_PUSH_QUEUE_H

#include "buffer.h"

#include <stdint.h>

#define PUSH_QUEUE       600
#define PUSH_QUEUE_BYTES ((size_t)8 << 20)

struct push_request {
	struct buffer body;
	int64_t items; /* the number of counted things: spans, or 1 */
	int tries;     /* tries so far */
	bool native;   /* has native histograms */
};

/* Zero-initialise. */
struct push_queue {
	struct push_request requests[PUSH_QUEUE];
	size_t first, count, bytes;
	size_t bytes_most; /* 0: PUSH_QUEUE_BYTES */
	bool busy;         /* the first one is being sent: it is not dropped */
};

/* Returns how many items were dropped: those of none, one or more requests, or, if it is larger than the queue or
 * memory ran out for its body, of the request itself. */
int64_t push_queue_put(struct push_queue *q, struct push_request *request);
struct push_request *push_queue_first(struct push_queue *q); /* NULL: empty */
void push_queue_pop(struct push_queue *q);
void push_queue_release(struct push_queue *q);

#endif
