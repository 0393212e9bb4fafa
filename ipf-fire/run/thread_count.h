/* How many threads send. */
#ifndef IPF_THREAD_COUNT_H
#define IPF_THREAD_COUNT_H

#include "stream/schedule.h"

#include <stddef.h>

/* As many as `cores` are good for and the schedule has work for: one for every two cores, since rendering, recording
 * and the kernel's network have to run somewhere; one for each thousand requests a second that are planned, or 500 at
 * once. 1 to 16. */
size_t thread_count_useful(const struct schedule *schedule, size_t cores);

#endif
