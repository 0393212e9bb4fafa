/* A scaling server's reaction to more load: after the begin of each spike and of each ramp, when the objectives were
 * missed, when they were met again, the requests beyond them meanwhile, and the replicas over time.
 *
 *     struct autoscaling a;
 *     autoscaling_find(&a, &run, &servers, &err);
 *     for (int i = 0; i < a.count; i++) … a.events[i].missed_after_s …
 *
 * An event is the begin of
 *
 *   - a spike of a stage of kind "spike";
 *   - a stage of constant rate that is AUTOSCALING_RISE times that of the stage before, and of the stage after;
 *   - a rising ramp, if there are objectives.
 *
 * It lasts until the next one begins, or the last request is due. Its requests are judged in windows by when they were
 * due, so long that AUTOSCALING_REQUESTS are due in one at the mean rate, from 1 to 60 s. The objectives are met in a
 * window if OBJECTIVE_EACH percent of its requests are good, and for an objective on a percentile that share of them;
 * failures are not. They are met again from the first of AUTOSCALING_STEADY successive windows on in which they are.
 *
 * Replicas are known from samples of the gauge replicas_ready. How many would have been enough follows from the highest
 * rate per replica, over as many successive windows, at which the objectives were met.
 */
#ifndef REPORT_AUTOSCALING_H
#define REPORT_AUTOSCALING_H

#include "figures/server_figures.h"
#include "results/run_data.h"

#include <stdbool.h>

enum { AUTOSCALING_EVENTS_MOST = 64, AUTOSCALING_REQUESTS = 20, AUTOSCALING_STEADY = 3 };
#define AUTOSCALING_RISE 1.5

/* Seconds count from the begin of the event; an absent value is NAN. */
struct autoscaling_event {
	int32_t stage;
	bool ramp;
	int64_t begin_ns, end_ns;
	int64_t requests, missed, missed_tokens; /* due in it; those beyond their objectives, and their output tokens */
	double rate_before, rate_peak;           /* due per second: in the windows before, and at most in it */
	bool missed_before;                      /* the objectives were missed in the window before it */
	double missed_after_s;                   /* NAN: never */
	double met_after_s;                      /* NAN: not again, or never missed */
	double replicas_before, replicas_most;
	double added_after_s; /* when there were more than before */
	double replicas_enough;
};

struct autoscaling {
	struct autoscaling_event events[AUTOSCALING_EVENTS_MOST];
	int count;
	double window_s;
	bool objectives;         /* false: only rates and replicas are known */
	double rate_per_replica; /* at which the objectives were met */
	const char *no_enough;   /* why it is not known how many replicas would have been enough; NULL: it is */
};

/* No events for results that are repeats. Fails only when memory runs out. */
int autoscaling_find(struct autoscaling *a, const struct run_data *run, const struct server_figures *servers,
                     struct ipf_error *err);

#endif
