/* How a rate and a level vary over time, from the moments at which something happens, as GuideLLM defines both
 * (guidellm 0.8.1, schemas/base/statistics.py, rate_distribution_from_timings, concurrency_distribution_from_timings).
 *
 * Moments within 0.1 ms of the first of them are one. A rate is the change at a moment divided by the time around it,
 * half-way to its neighbours, and lasts as long; a level is the sum of all changes so far, until the next one.
 *
 *     struct pulses p = {0};
 *     pulses_add(&p, (struct pulse_train){.first_ns = t, .last_ns = t, .count = 1, .first = 7});
 *     struct weighted_values v = {0};
 *     int64_t moments = pulses_rates(&p, &v);        // 7 / (time around it), …
 *     pulses_release(&p);
 *
 * A train stands for many pulses, of which there is never a list: memory is the trains'.
 */
#ifndef REPORT_PULSES_H
#define REPORT_PULSES_H

#include "other_tools/weighted_values.h"

#include <stdint.h>

/* `count` pulses, evenly from first_ns to last_ns (double, so they need not be at whole nanoseconds). */
struct pulse_train {
	double first_ns, last_ns;
	int64_t count;
	double first, others; /* the change at the first pulse, and at each other one */
	int64_t done;         /* set by pulses_rates and pulses_levels */
};

/* Zero-initialise. */
struct pulses {
	struct pulse_train *list;
	size_t count, cap;
};

void pulses_add(struct pulses *p, struct pulse_train train);
/* Both take the pulses out. Rates per second, weighted by seconds; returns the number of moments. */
int64_t pulses_rates(struct pulses *p, struct weighted_values *v);
/* Levels, weighted by seconds. */
void pulses_levels(struct pulses *p, struct weighted_values *v);
void pulses_release(struct pulses *p);

#endif
