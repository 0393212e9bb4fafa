/* How much of the machine this process may use. */
#ifndef IPF_CGROUP_LIMITS_H
#define IPF_CGROUP_LIMITS_H

#include <stddef.h>
#include <stdint.h>

/* Processors that this process may use: those that it may run on, or fewer where its control group (or one above it)
 * has a quota of processor time. A broken number is rounded down; at least 1. */
size_t cores_usable(void);
/* The same with the quotas read below `root` in place of "/" (tests). */
size_t cores_usable_below(const char *root);

/* Bytes of memory: the machine's, or fewer where its control group (or one above it) has a limit. 0: not known. */
int64_t memory_usable(void);
int64_t memory_usable_below(const char *root);

#endif
