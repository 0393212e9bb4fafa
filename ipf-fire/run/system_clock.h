/* The system's report about its wall clock (adjtimex(2)): whether it is synchronised, and its possible error.
 */
#ifndef IPF_SYSTEM_CLOCK_H
#define IPF_SYSTEM_CLOCK_H

#include <jansson.h>

/* {"synchronised": true, "offset_ns": …, "estimated_error_ns": …, "max_error_ns": …}; new. The errors are absent if the
 * clock is not synchronised. NULL: the system does not say, or out of memory. */
json_t *system_clock_json(void);

#endif
