#include "push/push_queue.h"

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

/* Drops the oldest request that is not being sent, and returns its items; 0: there is none. */
static int64_t drop(struct push_queue *q)
{
	int64_t items;
	if (!q->busy) {
		items = q->count ? push_queue_first(q)->items : 0;
		push_queue_pop(q);
		return items;
	}
	if (q->count < 2)
		return 0;
	/* the first one takes the place of the second */
	size_t second = (q->first + 1) % PUSH_QUEUE;
	struct push_request sending = q->requests[q->first];
	items = q->requests[second].items;
	q->bytes -= q->requests[second].body.len;
	buffer_release(&q->requests[second].body);
	q->requests[second] = sending;
	q->first = second;
	q->count--;
	return items;
}

int64_t push_queue_put(struct push_queue *q, struct push_request *request)
{
	size_t most = q->bytes_most ? q->bytes_most : PUSH_QUEUE_BYTES;
	int64_t dropped = 0;
	if (request->body.failed || request->body.len > most) {
		buffer_release(&request->body);
		return request->items;
	}
	while (q->count == PUSH_QUEUE || q->bytes + request->body.len > most) {
		int64_t items = drop(q);
		if (!items) {
			buffer_release(&request->body);
			return dropped + request->items;
		}
		dropped += items;
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
