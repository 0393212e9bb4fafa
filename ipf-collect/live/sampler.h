/* A thread taking samples of something at each `every` nanoseconds, from when it is started until it is stopped.
 *
 *     static void sample(void *data, enum sampler_tick tick) { … line_queue_put(queue, line); }
 *
 *     struct sampler_source source = {.data = targets, .sample = sample};
 *     sampler_start(&sampler, &source, NS_PER_S, &err);
 *     sampler_align(sampler, run_clock_zero(clock));  // from now on at multiples of `every` of the run
 *     sampler_stop(sampler);                          // one more sample, then the thread has ended
 *
 * The first sample is taken at once, the last one after sampler_stop was called. A sample taking longer than `every`
 * makes the next ticks fall out; it never makes two samples follow each other at once.
 */
#ifndef COLLECT_SAMPLER_H
#define COLLECT_SAMPLER_H

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

enum sampler_tick {
	SAMPLER_FIRST,
	SAMPLER_NEXT,
	SAMPLER_LAST, /* the run is over: finishes requests in flight before it returns */
};

/* All functions but `wake` are called by the sampler's thread. */
struct sampler_source {
	void *data;
	/* Takes a sample, or starts to. Long operations belong in `wait`, if other things continue at the same time. */
	void (*sample)(void *data, enum sampler_tick tick);
	/* Does other things (transfers) until clock_now() is until_ns, or until woken. NULL: nothing to do. */
	void (*wait)(void *data, int64_t until_ns);
	/* Makes `wait` return soon, from any thread, also if it is called only afterwards. NULL if `wait` is. */
	void (*wake)(void *data);
};

struct sampler;

/* Starts the thread; the source is copied, its data borrowed until sampler_stop. -1: IPF_SYSTEM. */
int sampler_start(struct sampler **sampler, const struct sampler_source *source, int64_t every_ns,
                  struct ipf_error *err);
/* Moves the ticks to zero_ns (of clock_now()) plus multiples of `every`. */
void sampler_align(struct sampler *sampler, int64_t zero_ns);
/* Has the last sample taken, waits for it, and frees the sampler. NULL is fine. */
void sampler_stop(struct sampler *sampler);
/* The same, but waits no longer than `patience_ns`, for sources that nothing can interrupt (a driver). False: the
 * thread still runs. It is left behind: it and the source's data stay until the process ends, and the data must not be
 * freed. */
bool sampler_stop_within(struct sampler *sampler, int64_t patience_ns);
/* The same in two steps, so several samplers take their last samples at the same time. */
void sampler_ask_to_stop(struct sampler *sampler);

#endif
