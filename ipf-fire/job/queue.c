#include "job/queue.h"

#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>

/* Each in its own cache line, so the two threads do not contend for one. */
#define CACHE_LINE _Alignas(64)

struct queue {
	CACHE_LINE atomic_size_t head; /* next to take */
	size_t tail_seen;              /* the taker's copy of tail */
	CACHE_LINE atomic_size_t tail; /* next to put */
	size_t head_seen;              /* the putter's copy of head */
	CACHE_LINE size_t mask;
	void **items;
};

struct queue *queue_new(size_t capacity)
{
	size_t size = 2;
	while (size < capacity && size <= SIZE_MAX / 2 / sizeof(void *))
		size *= 2;
	struct queue *q = aligned_alloc(64, sizeof *q);
	if (!q)
		return NULL;
	atomic_init(&q->head, 0);
	atomic_init(&q->tail, 0);
	q->head_seen = q->tail_seen = 0;
	q->mask = size - 1;
	q->items = malloc(size * sizeof *q->items);
	if (!q->items) {
		free(q);
		return NULL;
	}
	return q;
}

void queue_free(struct queue *q)
{
	if (!q)
		return;
	free(q->items);
	free(q);
}

bool queue_put(struct queue *q, void *item)
{
	size_t tail = atomic_load_explicit(&q->tail, memory_order_relaxed);
	if (tail - q->head_seen > q->mask) {
		q->head_seen = atomic_load_explicit(&q->head, memory_order_acquire);
		if (tail - q->head_seen > q->mask)
			return false;
	}
	q->items[tail & q->mask] = item;
	/* sequentially consistent, like the load of an empty queue: a putter that then checks whether the taker waits, and
	 * a taker that announces it waits and then checks the queue, cannot both miss each other */
	atomic_store(&q->tail, tail + 1);
	return true;
}

void *queue_take(struct queue *q)
{
	size_t head = atomic_load_explicit(&q->head, memory_order_relaxed);
	if (head == q->tail_seen) {
		q->tail_seen = atomic_load(&q->tail);
		if (head == q->tail_seen)
			return NULL;
	}
	void *item = q->items[head & q->mask];
	atomic_store_explicit(&q->head, head + 1, memory_order_release);
	return item;
}

void *queue_next(const struct queue *q)
{
	size_t head = atomic_load_explicit(&q->head, memory_order_relaxed);
	return head == q->tail_seen ? NULL : q->items[head & q->mask];
}

bool queue_full(const struct queue *q)
{
	return queue_count(q) > q->mask;
}

size_t queue_room(const struct queue *q)
{
	return q->mask + 1;
}

size_t queue_count(const struct queue *q)
{
	size_t head = atomic_load_explicit(&q->head, memory_order_acquire);
	return atomic_load_explicit(&q->tail, memory_order_acquire) - head;
}
