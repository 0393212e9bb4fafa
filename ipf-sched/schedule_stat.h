/* ipf-sched stat: what a schedule is like. Reads one from anywhere and says for each stage how many arrivals it has,
 * at what rate, with what gaps, how they change over its time, and whether they are what the stage's spec claims.
 */
#ifndef IPF_SCHEDULE_STAT_H
#define IPF_SCHEDULE_STAT_H

#include "buffer.h"
#include "error.h"
#include "rate_plot.h"

/* Appends the text for the schedule `path` (NULL or "-": standard input). A schedule that was cut is described as
 * far as it is good: the answer is 0 and `cut` is filled. `plot` (may be NULL) is filled with its arrivals. */
int schedule_stat_describe(const char *path, struct rate_plot *plot, struct buffer *out, struct ipf_error *cut,
                           struct ipf_error *err);

/* Kolmogorov's distribution: the probability that the distance between n values and the distribution they are drawn
 * from is at least `distance`. */
double kolmogorov_p(double distance, double n);

#endif
