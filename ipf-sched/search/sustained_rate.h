/* The highest rate a server sustained, from a stage that requested more than that.
 *
 *     struct sustained_rate s;
 *     if (sustained_rate_find(&runs.stages[0], &s, &err) == 1) … s.rate, between s.least and s.most …
 *
 * The mean from the first to the last answer would include the time in which the server fills up and the time in which
 * it runs empty. Instead, the steadiest stretch of answers is found (MSER, cut at both ends, at least a third of
 * the time), and the rate is the slope of the line through its answers: it does not matter whether they arrive one by
 * one or in groups. The confidence interval comes from the times that five parts of the stretch took
 * (Student's t, 95 %), and is wider by 1.3 because the stretch is chosen.
 */
#ifndef IPF_SUSTAINED_RATE_H
#define IPF_SUSTAINED_RATE_H

#include "search/earlier_runs.h"

struct sustained_rate {
	double rate, least, most; /* successful requests per second, and its 95 % interval */
	double begin_s, end_s;    /* the steady stretch, in seconds from the start of the run */
	double latency_s;         /* the fastest tenth of the answers */
	bool saturated;           /* false: no more than this was requested, and the server may sustain more */
};

/* An interval is useful if it is within this share of the rate to either side. */
#define SUSTAINED_RATE_USEFUL 0.5

/* Is the interval narrow enough to plan a run by, and the stretch at least as long as a fast request? In a shorter one,
 * the server answered requests computed all at the same time, which shows no rate it sustains. */
bool sustained_rate_useful(const struct sustained_rate *found);
/* How long the steady stretch should be: at least 10 s and ten times the latency, and long enough for an interval of a
 * fifth to either side, going by the law it narrows with the square root of its length. */
double sustained_rate_enough_s(const struct sustained_rate *found);

enum { SUSTAINED_RATE_LEAST = 60 }; /* answers that sustained_rate_find needs */
enum { UNSATURATED_LEAST = 8 };     /* answers that sustained_rate_unsaturated needs */

/* 1: *found is set; 0: too few answers; -1: out of memory. */
int sustained_rate_find(const struct earlier_stage *stage, struct sustained_rate *found, struct ipf_error *err);

/* Answers per second of a stage that did not keep the server busy, for example with a single user, and may have few
 * answers. 1: *rate is set; 0: too few answers; -1: out of memory. */
int sustained_rate_unsaturated(const struct earlier_stage *stage, double *rate, struct ipf_error *err);

#endif
