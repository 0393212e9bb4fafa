/* From how many users on closed loops complete no more: the plateau of throughput against users, with an interval by
 * the bootstrap.
 *
 *     struct plateau_point points[] = {…};               // one for each number of users, in any order
 *     struct plateau p;
 *     plateau_find(points, count, &p);                   // p.rate: 98.7 requests/s, from p.users: 10.2 on
 *     plateau_interval(points, count, &p, &err);         // p.rate_low, …
 *
 * In a closed system the throughput rises with the users up to the asymptotic bound: capacity = throughput at which
 * something is always busy (Denning and Buzen, "The Operational Analysis of Queueing Network Models", ACM Computing
 * Surveys 10(3), 1978). How it rises depends on the server: in proportion, where requests do not disturb each other,
 * and less where they share batches. The points below can have any form. The plateau is
 *
 *   - the points from the fewest users on that complete PLATEAU_NEAR of the most that any point completes, or less by
 *     no more than chance (PLATEAU_SIGMAS standard errors), up to the first that completes less again;
 *   - flat if the throughput falls beyond it, or if its last point has PLATEAU_WIDTH times the users of its first, and
 *     completes more by less than half of that, chance aside.
 *
 * The capacity is its mean. The users that reach it follow from the point below it: at the throughput of each of its
 * users, limited to the users of both points.
 *
 * The interval is made as in knee.h, and widened for the few parts of each point. Pure.
 */
#ifndef REPORT_PLATEAU_H
#define REPORT_PLATEAU_H

#include "analysis/knee.h"

#include <stdbool.h>

#define PLATEAU_NEAR   0.95
#define PLATEAU_WIDTH  1.2
#define PLATEAU_SIGMAS 2

struct plateau_point {
	double users;
	double seconds;                 /* its length: above 0 */
	double completed[KNEE_BATCHES]; /* in each part of it */
};

/* Per second, over the whole point. */
double plateau_point_rate(const struct plateau_point *p);

struct plateau {
	bool flat;                                         /* else the throughput still rose at the most users */
	double rate;                                       /* completed per second on it */
	double users;                                      /* reaching it; NAN: the fewest of all points do */
	size_t below, on;                                  /* points before it, and on it */
	bool falls;                                        /* beyond it, more users complete less */
	double rate_low, rate_high, users_low, users_high; /* 95 % intervals; NAN: see users */
};

/* Fits 1 to KNEE_POINTS_MOST points; sets all but the intervals. */
void plateau_find(const struct plateau_point *points, size_t count, struct plateau *p);
/* Sets the intervals. Fails only when memory runs out. */
int plateau_interval(const struct plateau_point *points, size_t count, struct plateau *p, struct ipf_error *err);

#endif
