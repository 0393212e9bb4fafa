#include "timers.h"

#include "array.h"

#include <stdlib.h>

static void place(struct timers *t, struct timer *timer, size_t at)
{
	t->heap[at - 1] = timer;
	timer->place = at;
}

static void sift_up(struct timers *t, struct timer *timer, size_t at)
{
	while (at > 1 && t->heap[at / 2 - 1]->at_ns > timer->at_ns) {
		place(t, t->heap[at / 2 - 1], at);
		at /= 2;
	}
	place(t, timer, at);
}

static void sift_down(struct timers *t, struct timer *timer, size_t at)
{
	for (size_t child; (child = 2 * at) <= t->count; at = child) {
		if (child < t->count && t->heap[child]->at_ns < t->heap[child - 1]->at_ns)
			child++;
		if (t->heap[child - 1]->at_ns >= timer->at_ns)
			break;
		place(t, t->heap[child - 1], at);
	}
	place(t, timer, at);
}

int timers_set(struct timers *t, struct timer *timer, int64_t at_ns)
{
	timers_stop(t, timer);
	if (!array_room(t->heap, t->cap, t->count + 1))
		return -1;
	timer->at_ns = at_ns;
	sift_up(t, timer, ++t->count);
	return 0;
}

void timers_stop(struct timers *t, struct timer *timer)
{
	size_t at = timer->place;
	if (!at)
		return;
	timer->place = 0;
	struct timer *last = t->heap[--t->count];
	if (last == timer)
		return;
	if (at > 1 && t->heap[at / 2 - 1]->at_ns > last->at_ns)
		sift_up(t, last, at);
	else
		sift_down(t, last, at);
}

int64_t timers_next(const struct timers *t)
{
	return t->count ? t->heap[0]->at_ns : INT64_MAX;
}

void timers_run(struct timers *t, int64_t now_ns)
{
	while (t->count && t->heap[0]->at_ns <= now_ns) {
		struct timer *timer = t->heap[0];
		timers_stop(t, timer);
		timer->fire(timer, timer->data);
	}
}

void timers_release(struct timers *t)
{
	free(t->heap);
	t->heap = NULL;
	t->count = t->cap = 0;
}
