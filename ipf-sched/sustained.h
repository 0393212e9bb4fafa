/* The highest rate at which a server went on answering, from a run that asked for more than it could.
 *
 *     struct sustained s;
 *     if (sustained_find(&seen.stages[0], &s, &err) == 1) … s.rate, between s.least and s.most …
 *
 * Not the mean from the first to the last answer, which has the time in it in which the server fills up and that in
 * which it runs empty: the stretch is looked for in which the rate of answers is steadiest (MSER, cut at both ends, a
 * third of the time at least), and the rate is the slope of the line through its answers, so that it makes no
 * difference whether they come one by one or in lumps. How sure it is comes from the slopes of five parts of it
 * (Student's t, 95 %).
 */
#ifndef IPF_SUSTAINED_H
#define IPF_SUSTAINED_H

#include "observed.h"

struct sustained {
	double rate, least, most; /* requests a second that succeeded; the interval of 95 % */
	double begin_s, end_s;    /* the steady stretch, in seconds from the run's start */
	bool saturated;           /* false: it was not asked for more than this, so that it may be able to do more */
};

enum { SUSTAINED_LEAST = 60 }; /* answers, without which nothing is said */

/* 1; 0: too few answers; -1: memory. */
int sustained_find(const struct observed_stage *stage, struct sustained *found, struct ipf_error *err);

enum { PACE_LEAST = 8 };

/* Answers a second of a stage that did not keep the server busy, such as one of a single user, of which there may be
 * too few for more than this: 1; 0: fewer than PACE_LEAST; -1: memory. */
int sustained_pace(const struct observed_stage *stage, double *rate, struct ipf_error *err);

#endif
