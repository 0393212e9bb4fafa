/* Exact fractions, for times that may not drift: a constant rate, a replay's speed.
 *
 *     struct ratio speed;
 *     ratio_parse("1.25", &speed);                // 5/4, written as 125/100
 *     int64_t at_ns = ratio_divide(trace_ns, speed); // to the nearest nanosecond, halves up
 */
#ifndef IPF_RATIO_H
#define IPF_RATIO_H

#include <stdbool.h>
#include <stdint.h>

struct ratio {
	uint64_t num, den; /* 0/0: not given */
};

/* A decimal number above 0 (2, 0.5, 1.25; at most nine digits before and nine after the point); false for anything
 * else. */
bool ratio_parse(const char *text, struct ratio *ratio);

/* The simplest fraction that is nearest to `value` among all doubles, for 1e-9 <= value <= 1e9: 0.1 gives 1/10, and
 * 100 a minute (1.6666666666666667 a second) gives 5/3. Both parts are below 2^53. */
struct ratio ratio_of(double value);

#define RATIO_MOST (INT64_C(1) << 62)

/* ns / by, rounded to the nearest, halves up; RATIO_MOST where it is more. ns >= 0. */
int64_t ratio_divide(int64_t ns, struct ratio by);

#endif
