/* How many threads send. */
#ifndef IPF_THREAD_COUNT_H
#define IPF_THREAD_COUNT_H

#include "stream/schedule.h"

#include <stddef.h>

/* As many threads as `cores` can run and the schedule has work for: at most one for every two cores, since rendering,
 * recording and the kernel's network stack need cores too; one for every 1000 scheduled requests a second, or for every
 * 500 at once. 1 to 16. */
size_t thread_count_useful(const struct schedule *schedule, size_t cores);

#endif
