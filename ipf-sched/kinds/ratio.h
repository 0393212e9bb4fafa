/* Exact fractions, for times that must not drift: a constant rate, the speed of a replay.
 *
 *     struct ratio speed;
 *     ratio_parse("1.25", &speed);                   // 125/100
 *     int64_t at_ns = ratio_divide(trace_ns, speed); // to the nearest nanosecond, halves up
 */
#ifndef IPF_RATIO_H
#define IPF_RATIO_H

#include <stdbool.h>
#include <stdint.h>

struct ratio {
	uint64_t num, den; /* 0/0: not given */
};

/* Parses a decimal number above 0 (2, 0.5, 1.25) with at most nine digits before and nine after the point. False for
 * any other text. */
bool ratio_parse(const char *text, struct ratio *ratio);

/* The simplest fraction whose nearest double is `value`, for 1e-9 <= value <= 1e9: 0.1 gives 1/10, and 100 per minute
 * (1.6666666666666667 per second) gives 5/3. Both parts are below 2^53. */
struct ratio ratio_of(double value);

#define RATIO_MOST (INT64_C(1) << 62)

/* ns / by, rounded to the nearest, halves up; at most RATIO_MOST. ns >= 0. */
int64_t ratio_divide(int64_t ns, struct ratio by);

#endif
