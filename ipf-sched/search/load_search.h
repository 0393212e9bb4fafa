/* Finds the highest load meeting goals on a noisy server, from the results of stages at several loads.
 *
 *     struct load_search search = {.low = 1, .high = 200, .precision = 0.05, .confidence = 0.95};
 *     struct load_search_trial trials[] = {{.load = 14, .met = 1}, {.load = 53, .met = 0.02}};
 *     load_search_next(&search, trials, 2, &answer, &err);      // answer.known, or try answer.next
 *
 * The method is a monotone regression. The probability a stage meets the goals falls with the load, as a logistic curve
 * of its logarithm around the answer, where the probability is one half. The unknowns are the answer, the steepness of
 * the curve, and how often a stage comes out wrong whatever its load. Every combination is weighted by how well it
 * explains all stages (Bayes' rule over a grid; the prior of the answer is uniform on the logarithmic scale). The next
 * trial is at the median of the answer: on a quiet server that halves the range, on a noisy one it repeats near the
 * knee until a single wrong stage changes nothing. The answer is known when its interval, at the requested confidence,
 * is as narrow as the precision.
 */
#ifndef IPF_LOAD_SEARCH_H
#define IPF_LOAD_SEARCH_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>

struct load_search {
	double low, high;  /* loads; 0 < low < high */
	double precision;  /* 0.05: the interval reaches 5 % to either side of the answer */
	double confidence; /* for that interval */
	bool whole;        /* loads are whole numbers: the answer is the highest one that meets the goals */
};

struct load_search_trial {
	double load;
	double met; /* the probability the stage met the goals, from 0 to 1 */
};

struct load_search_answer {
	enum { SEARCH_WITHIN, SEARCH_BELOW, SEARCH_ABOVE } where; /* within low … high, below low, above high */
	bool known;
	double answer, least, most; /* the median and its interval */
	double sure;                /* the probability it is in the interval, or beyond the end */
	double next;                /* the load to try next, if the answer is not known */
};

/* Weighs `count` trials, in any order. Fails only when memory runs out. */
int load_search_next(const struct load_search *search, const struct load_search_trial *trials, size_t count,
                     struct load_search_answer *answer, struct ipf_error *err);

/* The normal distribution: the probability a goal was met by a stage that is z standard errors within its limit.
 */
double search_probability(double z);

#endif
