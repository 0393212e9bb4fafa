/* Where a curve of completed against offered rate stops rising: the model min(offered, capacity), fitted by least
 * squares, with an interval by the bootstrap.
 *
 *     struct knee_point points[] = {…};                  // one for each rate, in any order
 *     struct knee knee;
 *     knee_fit(points, count, &knee);                    // knee.rate: 12.4 requests/s
 *     knee_interval(points, count, &low, &high, &err);
 *
 * The model is the asymptotic bound of an open system (Denning and Buzen, "The Operational Analysis of Queueing Network
 * Models", ACM Computing Surveys 10(3), 1978): below its capacity everything offered is completed, above it the
 * throughput is the capacity. It has one parameter, so few points suffice. Beyond the knee the throughput may also fall
 * on a line (a retrograde curve), if at least KNEE_LINE points are there and the line falls by more than KNEE_FALL of
 * the capacity up to the highest rate. A point counts by its length over its rate, the inverse of the variance of a
 * Poisson count.
 *
 * For the interval, each point is measured in KNEE_BATCHES successive parts, which are drawn anew with replacement,
 * KNEE_DRAWS times, each time with a fit (Efron and Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13:
 * percentile intervals). It covers the variation within a point, not that from run to run. The generator is named and
 * seeded: equal points give equal intervals.
 *
 * Pure; rates may be in any unit.
 */
#ifndef REPORT_KNEE_H
#define REPORT_KNEE_H

#include "error.h"

#include <stddef.h>

enum { KNEE_BATCHES = 10, KNEE_DRAWS = 1000, KNEE_POINTS_MOST = 256, KNEE_LINE = 3 };
#define KNEE_FALL 0.05

struct knee_point {
	double seconds;                 /* its length: above 0 */
	double offered[KNEE_BATCHES];   /* arrivals in each part of it; their sum is above 0 */
	double completed[KNEE_BATCHES]; /* completions, in a part of the same length */
};

/* Per second, over the whole point. */
double knee_point_offered(const struct knee_point *p);
double knee_point_completed(const struct knee_point *p);

struct knee {
	double rate;         /* the capacity; the highest rate offered if no point falls short of it */
	double slope;        /* completed per offered beyond it: 0 or less */
	size_t below, above; /* points up to the knee, and beyond it */
	double misfit;       /* root of the mean square of the residuals, relative to the curve */
};

/* Fits 1 to KNEE_POINTS_MOST points. */
void knee_fit(const struct knee_point *points, size_t count, struct knee *knee);
/* The 95 % interval of its rate. Fails only when memory runs out. */
int knee_interval(const struct knee_point *points, size_t count, double *low, double *high, struct ipf_error *err);

#endif
