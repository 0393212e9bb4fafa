/* Requests in flight, from the starts and ends of the rows. */
#ifndef REPORT_FLIGHT_H
#define REPORT_FLIGHT_H

#include "results/run_data.h"

struct in_flight {
	double integral; /* over the window, in ns times requests */
	double most;     /* at once */
	double busy;     /* end - start in ns, summed over those that ended in the window: Little's other side */
};

/* Of all requests (of one member of a grouping, or all for -1), in each stage's window and whatever stage they belong
 * to; `flights` has run->schedule.count. Shards add up; of repeats the sums add up and the highest of the maxima
 * counts. */
int in_flight_measure(const struct run_data *run, enum grouping by, int32_t member, bool drain,
                      struct in_flight *flights, struct ipf_error *err);

#endif
