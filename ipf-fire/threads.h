/* How many threads send. */
#ifndef IPF_THREADS_H
#define IPF_THREADS_H

#include "schedule.h"

#include <stddef.h>

/* Processors that this process may use: those that it may run on, or fewer where its control group (or one above it) has a quota of
 * processor time. A broken number is rounded down; at least 1. */
size_t cores_usable(void);
/* The same with the quotas read below `root` in place of "/" (tests). */
size_t cores_usable_below(const char *root);

/* As many as `cores` are good for and the schedule has work for: one for every two cores, since rendering, recording and the kernel's network
 * have to run somewhere; one for each thousand requests a second that are planned, or 500 at once. 1 to 16. */
size_t threads_useful(const struct schedule *schedule, size_t cores);

#endif
