/* The time of the run, now: for samples taken while it lasts. It counts nanoseconds from the run's start (t0), as all
 * times of the records do.
 *
 *     struct run_clock *clock = run_clock_new();              // before the records' header has come
 *     run_clock_start(clock, header);                         // main thread, as soon as it is there
 *     if (run_clock_knows(clock)) t_ns = run_clock_now(clock);   // any thread
 *
 * Time comes from this machine's monotonic clock, which never steps. If the records were made on this boot of this
 * machine, their t0_clock_ns is on the same clock, and the run's time is exact. Otherwise it follows from t0_unix_ns,
 * and is off by as much as the two machines' wall clocks differ when the run starts.
 */
#ifndef COLLECT_RUN_CLOCK_H
#define COLLECT_RUN_CLOCK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct run_clock;

struct run_clock *run_clock_new(void); /* NULL: no memory */
void run_clock_free(struct run_clock *clock);

/* Takes the start of the run from the header of its records. -1: the header has no start. Once. */
int run_clock_start(struct run_clock *clock, const json_t *header);
bool run_clock_knows(const struct run_clock *clock);

/* Run time now, and of a time of clock_now(). Only if the start is known. */
int64_t run_clock_now(const struct run_clock *clock);
int64_t run_clock_at(const struct run_clock *clock, int64_t monotonic_ns);
/* The start on this machine's monotonic clock. */
int64_t run_clock_zero(const struct run_clock *clock);

#endif
