/* Clocks. Inside the programs every time is int64_t nanoseconds on the monotonic clock. */
#ifndef IPF_CLOCK_H
#define IPF_CLOCK_H

#include <stdint.h>

#define NS_PER_US   INT64_C(1000)
#define NS_PER_MS   INT64_C(1000000)
#define NS_PER_S    INT64_C(1000000000)
#define NS_PER_YEAR (365 * 24 * 3600 * NS_PER_S)

int64_t clock_now(void);  /* CLOCK_MONOTONIC */
int64_t clock_wall(void); /* CLOCK_REALTIME, since the epoch */
/* The wall-clock time, past or future, at which clock_now() is now_ns; right to a fraction of a microsecond. */
int64_t clock_wall_at(int64_t now_ns);
int64_t clock_cpu_thread(void); /* CPU time of the calling thread */

/* Writes wall-clock nanoseconds as "2026-11-20T06:29:00.123Z". */
void clock_format(int64_t wall_ns, char text[32]);

#endif
