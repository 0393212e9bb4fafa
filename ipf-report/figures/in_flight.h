/* The number of requests in flight over time, from the starts and ends of the rows. */
#ifndef REPORT_IN_FLIGHT_H
#define REPORT_IN_FLIGHT_H

#include "results/run_data.h"

struct in_flight {
	double integral; /* over the window, in ns times requests */
	double most;     /* maximum */
	double busy;     /* sum of end - start in ns, of requests ending in the window: the other side of Little's law */
};

/* Measures the window of each stage into flights[stage], and the time of all measured ones together, each moment once,
 * into flights[number of stages]. Requests of all stages count; with member >= 0, the member's of the grouping. Shards
 * add up; for repeats, integrals add up and the highest maximum counts. Fails only when memory runs out. */
int in_flight_measure(const struct run_data *run, enum grouping by, int32_t member, bool drain,
                      struct in_flight *flights, struct ipf_error *err);

#endif
