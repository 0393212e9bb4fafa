/* The highest rate that a server sustained, from a stage that requested more than that.
 *
 *     struct sustained_rate s;
 *     if (sustained_rate_find(&runs.stages[0], &s, &err) == 1) … s.rate, between s.least and s.most …
 *
 * The mean from the first to the last answer would include the time in which the server fills up and the time in which
 * it runs empty. Instead, the steadiest stretch of answers is found (MSER, cut at both ends, at least a third of
 * the time), and the rate is the slope of the line through its answers: it does not matter whether they arrive one by
 * one or in groups. The confidence interval comes from the slopes of five parts of the stretch
 * (Student's t, 95 %).
 */
#ifndef IPF_SUSTAINED_RATE_H
#define IPF_SUSTAINED_RATE_H

#include "search/earlier_runs.h"

struct sustained_rate {
	double rate, least, most; /* successful requests per second, and its 95 % interval */
	double begin_s, end_s;    /* the steady stretch, in seconds from the start of the run */
	bool saturated;           /* false: no more than this was requested, and the server may sustain more */
};

enum { SUSTAINED_RATE_LEAST = 60 }; /* answers that sustained_rate_find needs */
enum { UNSATURATED_LEAST = 8 };     /* answers that sustained_rate_unsaturated needs */

/* 1: *found is set; 0: too few answers; -1: out of memory. */
int sustained_rate_find(const struct earlier_stage *stage, struct sustained_rate *found, struct ipf_error *err);

/* Answers per second of a stage that did not keep the server busy, for example with a single user, and may have few
 * answers. 1: *rate is set; 0: too few answers; -1: out of memory. */
int sustained_rate_unsaturated(const struct earlier_stage *stage, double *rate, struct ipf_error *err);

#endif
