/* The times of the content events of a request, from its line (ipf-collect --events).
 *
 *     struct event_times times = {0};
 *     if (event_times_parse(&times, result.event_ns)) times.ns[0] … times.ns[times.count - 1]
 *     event_times_release(&times);
 */
#ifndef IPF_EVENT_TIMES_H
#define IPF_EVENT_TIMES_H

#include "buffer.h"

#include <stdbool.h>

/* Zero-initialise; may be used again for the next request. */
struct event_times {
	double *ns; /* from t0 of the part */
	size_t count, cap;
};

/* Parses a JSON list of integers. false: absent, or out of memory. */
bool event_times_parse(struct event_times *times, struct slice list);
void event_times_release(struct event_times *times);

#endif
