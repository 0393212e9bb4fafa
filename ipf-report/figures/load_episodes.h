/* How often does a load change? Arrivals come in bursts that last; a measurement depends on how many of these the run
 * has seen, however many requests are in them.
 *
 *     double episodes = load_episodes(due, count, 60);      // 6.1: as much as six independent rates
 *     if (episodes < LOAD_EPISODES_FEWEST) …                // too short for these bursts
 *
 * The correlation time of the rate is 1 + 2 times the sum of its autocorrelations, estimated from counts in equal parts
 * of the time: their autocovariances without that at lag 0, most of which is chance (a Poisson process has no other),
 * added up as in autocorrelation.h. It is looked for only if counts in twentieths of the time vary visibly more than by
 * chance, and by a share that matters.
 *
 * Pure; the same bits on every machine.
 */
#ifndef IPF_LOAD_EPISODES_H
#define IPF_LOAD_EPISODES_H

#include <stddef.h>

/* With fewer, intervals are too narrow: the bursts that were not seen are not in them. */
#define LOAD_EPISODES_FEWEST 20.0

/* `due`: times in 0 … length, in seconds, in any order. INFINITY: the rate does not change visibly, or there are fewer
 * than 40 arrivals. At least 1. */
double load_episodes(const double *due, size_t count, double length);

#endif
