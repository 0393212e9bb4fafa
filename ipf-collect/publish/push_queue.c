#include "publish/push_queue.h"

struct push_request *push_queue_first(struct push_queue *q)
{
	return q->count ? &q->requests[q->first] : NULL;
}

void push_queue_pop(struct push_queue *q)
{
	struct push_request *first = push_queue_first(q);
	if (!first)
		return;
	q->bytes -= first->body.len;
	buffer_release(&first->body);
	q->first = (q->first + 1) % PUSH_QUEUE;
	q->count--;
	q->busy = false;
}

/* Drops the oldest request that is not being sent. False: there is none. */
static bool drop(struct push_queue *q)
{
	if (!q->busy) {
		if (!q->count)
			return false;
		push_queue_pop(q);
		return true;
	}
	if (q->count < 2)
		return false;
	/* the first one takes the place of the second */
	size_t second = (q->first + 1) % PUSH_QUEUE;
	struct push_request sending = q->requests[q->first];
	q->bytes -= q->requests[second].body.len;
	buffer_release(&q->requests[second].body);
	q->requests[second] = sending;
	q->first = second;
	q->count--;
	return true;
}

int64_t push_queue_put(struct push_queue *q, struct push_request *request)
{
	int64_t dropped = 0;
	if (request->body.failed || request->body.len > PUSH_QUEUE_BYTES) {
		buffer_release(&request->body);
		return 1;
	}
	while (q->count == PUSH_QUEUE || q->bytes + request->body.len > PUSH_QUEUE_BYTES) {
		if (!drop(q)) {
			buffer_release(&request->body);
			return dropped + 1;
		}
		dropped++;
	}
	q->requests[(q->first + q->count) % PUSH_QUEUE] = *request;
	q->count++;
	q->bytes += request->body.len;
	request->body = (struct buffer){0};
	return dropped;
}

void push_queue_release(struct push_queue *q)
{
	while (q->count)
		push_queue_pop(q);
}
