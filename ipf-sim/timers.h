/* Timers on the monotonic clock, in a heap. A timer is part of its owner; setting one again moves it. */
#ifndef SIM_TIMERS_H
#define SIM_TIMERS_H

#include <stddef.h>
#include <stdint.h>

struct timer {
	int64_t at_ns;
	size_t place; /* in the heap, from 1; 0: not set */
	void (*fire)(struct timer *timer, void *data);
	void *data;
};

struct timers {
	struct timer **heap;
	size_t count, cap;
};

int timers_set(struct timers *timers, struct timer *timer, int64_t at_ns); /* -1: no memory */
void timers_stop(struct timers *timers, struct timer *timer);              /* nothing where it is not set */
int64_t timers_next(const struct timers *timers);                          /* INT64_MAX: none */
void timers_run(struct timers *timers, int64_t now_ns);                    /* fires all whose time has come */
void timers_release(struct timers *timers);

#endif
