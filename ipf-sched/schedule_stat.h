/* ipf-sched stat: describes a schedule. For each stage it shows the number of arrivals, the rate and how it changes,
 * the gaps between arrivals, and whether they follow the distribution the stage's spec claims.
 */
#ifndef IPF_SCHEDULE_STAT_H
#define IPF_SCHEDULE_STAT_H

#include "buffer.h"
#include "error.h"
#include "rate_plot.h"

/* Appends the text for the schedule `path` (NULL or "-": standard input). A schedule cut is described as far as it
 * goes: the return value is 0 and `cut` is set. `plot`, if not NULL, receives its arrivals. */
int schedule_stat_describe(const char *path, struct rate_plot *plot, struct buffer *out, struct ipf_error *cut,
                           struct ipf_error *err);

#endif
