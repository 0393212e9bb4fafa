/* How much of the machine this process may use. */
#ifndef IPF_CGROUP_LIMITS_H
#define IPF_CGROUP_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* Processors that this process may use: those it may run on, or fewer if its control group (or one above it) has a
 * quota of processor time. A fraction is rounded down; at least 1. */
size_t cgroup_limits_cores(void);
/* Bytes of memory that this process may use: the machine's, or fewer if its control group (or one above it) has a
 * limit. 0: unknown. */
int64_t cgroup_limits_memory(void);

/* The same, with the control groups read below `root` instead of "/" (for tests). */
size_t cgroup_limits_cores_below(const char *root);
int64_t cgroup_limits_memory_below(const char *root);

#endif
