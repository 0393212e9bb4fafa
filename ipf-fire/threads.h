/* How many threads send. */
#ifndef IPF_THREADS_H
#define IPF_THREADS_H

#include "schedule.h"

#include <stddef.h>

/* As many as `cores` are good for and the schedule has work for: one for every two cores, since rendering, recording and the kernel's network
 * have to run somewhere; one for each thousand requests a second that are planned, or 500 at once. 1 to 16. */
size_t threads_useful(const struct schedule *schedule, size_t cores);

#endif
