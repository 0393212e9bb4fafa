/* From which load on a server completes no more: from stages at several constant rates (a sweep), from a ramp, or, if a
 * run has neither, from closed loops with different numbers of users.
 *
 *     struct saturation s;
 *     saturation_find(&s, &run, finding, &err);
 *     if (s.status == SATURATION_REACHED) … s.rate, s.low, s.high …
 *     saturation_release(&s);
 *
 * Each open-loop stage of constant rate is a point of the curve of knee.h, and so is each of RAMP_PIECES pieces of a
 * ramp. A point is made so that neither the beginning nor the end of a stage distorts it:
 *
 *   - requests count when they complete, whichever stage they are of: a server with a backlog is busy;
 *   - from the p99 of the stage's latencies after its begin on, at most half of its length: until then it fills;
 *   - until its end, so a drain, in which the load falls, never counts;
 *   - against the arrivals of the same length of time, earlier by the median latency: those that complete then.
 *
 * A piece of a rising ramp counts arrivals in it, and completions later by the median latency of the first fifth.
 *
 * A stage is left out if its requests waited for slots or connections of the client (its load was not the schedule's),
 * if they depend on answers (closed loops, sessions), if its rate varies, or if it is too short for its latencies.
 *
 * Closed loops are the points of the plateau by plateau.h. Each counts the requests of its stage from the p99 of their
 * latencies after its begin (or its ramp-up) on, at most half of its length, until its end or, if the stage is bounded
 * by a count, until its last request starts. A request counts by the share of its time lying between them. Shards of a
 * run are one loop, with the users of all of them; repeats are points with their own users.
 */
#ifndef REPORT_SATURATION_H
#define REPORT_SATURATION_H

#include "analysis/knee.h"
#include "analysis/plateau.h"
#include "results/run_data.h"

enum { RAMP_PIECES = 20, SATURATION_POINTS = 3 };
/* Reached if the interval of the capacity lies below the highest rate by this share … */
#define SATURATION_SHORTFALL 0.03
/* … and known if the points are within this of the curve, as the root of the mean square. */
#define SATURATION_MISFIT 0.10
/* A point needs as many arrivals, and a stage must be this many times as long as the fastest twentieth of its requests
 * took. */
#define SATURATION_ARRIVALS 20
#define SATURATION_LENGTHS  4.0
/* Requests of a stage that fell due in it, of those that were scheduled: below, they depend on answers. */
#define SATURATION_DUE     0.95
#define SATURATION_TOO_FEW "too few requests"

enum saturation_status {
	SATURATION_NO_CURVE, /* the run has neither several rates or numbers of users nor a ramp */
	SATURATION_NOT_KNOWN,
	SATURATION_NOT_REACHED,
	SATURATION_REACHED,
};
extern const char *const saturation_status_names[]; /* "not known", "not saturated", "saturated"; the first is NULL */

struct saturation_point {
	int32_t stage;
	int part;             /* the run's, if these are repeats; else 0 */
	double begin_s;       /* a piece of a ramp: when it begins in its stage; NAN */
	double users;         /* a closed loop's; 0: it is none */
	double offered;       /* arrivals per second; NAN in a closed loop */
	double completed;     /* per second; NAN if `left_out` */
	const char *left_out; /* why it is not on the curve; NULL: it is */
};

struct saturation {
	enum saturation_status status;
	char reason[320];       /* why it is not known; else "" */
	bool by_users;          /* the points are closed loops */
	struct knee knee;       /* unless it is not known; of closed loops: the rate, and the points below and above */
	double low, high;       /* 95 % interval of knee.rate */
	struct plateau plateau; /* for closed loops, unless it is not known */
	const struct saturation_point *highest; /* the highest load; NULL if there are not points enough … */
	double highest_offered, highest_completed, highest_users; /* … and its figures */
	const struct saturation_point *beyond;                    /* the lowest load beyond the knee; NULL */
	struct saturation_point *points;                          /* by offered rate, or by users */
	size_t count;
};

/* "", or if less than the offered rate was completed although the server is not saturated, why this is not said: to
 * follow a sentence with both rates. */
const char *saturation_excuse(double offered, double completed);

/* `finding`: of the verdict, whose load and client must not be INVALID. Fails only when memory runs out. */
int saturation_find(struct saturation *s, const struct run_data *run, const struct verdict_finding *finding,
                    struct ipf_error *err);
void saturation_release(struct saturation *s);

#endif
