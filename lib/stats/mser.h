/* Where does the warm-up of a series end? MSER-5: of all truncations, take the one after which the mean is known best.
 *
 *     size_t from;
 *     if (mser5(values, count, &from)) …   // values[from] and later are past the warm-up, if it is over at all
 *
 * K. P. White Jr., "An effective truncation heuristic for bias reduction in simulation output", Simulation 69(6), 1997;
 * with batches of five as in White, Cobb and Spratt, "A comparison of five steady-state truncation heuristics for
 * simulation", Winter Simulation Conference 2000. Exactly:
 *
 *   1. The series is divided into m = ⌊count/5⌋ batches of 5 successive values, with means Z(1) … Z(m); the last
 *      count − 5m values are left out.
 *   2. For each truncation d = 0 … ⌊m/2⌋, MSER(d) = Σ (Z(i) − mean of Z(d+1) … Z(m))² / (m − d)², over i = d+1 … m.
 *   3. The truncation is the smallest d that minimises it: 5d values are the warm-up.
 *
 * At most half of the series is truncated, so a warm-up that is longer is not recognised as such: a caller must check
 * the rest has no trend.
 *
 * Pure; the same bits on every machine.
 */
#ifndef IPF_MSER_H
#define IPF_MSER_H

#include <stdbool.h>
#include <stddef.h>

#define MSER_BATCH  5
#define MSER_FEWEST 20 /* values: four batches, so there is a choice */

/* Sets *from to the first value after the warm-up. False: fewer values than MSER_FEWEST. Values must be finite. */
bool mser5(const double *values, size_t count, size_t *from);

#endif
