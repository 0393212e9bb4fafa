/* Requests in flight, from the starts and ends of the rows. */
#ifndef REPORT_FLIGHT_H
#define REPORT_FLIGHT_H

#include "run.h"

/* Of all requests (of `model`, or all for -1), in each stage's window: the integral over time (in ns × requests) and the most at
 * once; arrays of run->plan.count. Shards add up; of repeats the integrals add up and the highest of the maxima counts. */
int flight_measure(const struct run *run, int32_t model, bool drain, double *integral, double *most, struct ipf_error *err);

#endif
