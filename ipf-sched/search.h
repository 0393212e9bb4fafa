/* The highest load that meets the objectives, from stages of which some met them and some did not, on a server that is
 * noisy.
 *
 *     struct search search = {.low = 1, .high = 200, .precision = 0.05, .confidence = 0.95};
 *     struct search_trial trials[] = {{.load = 14, .met = 1}, {.load = 53, .met = 0.02}};
 *     search_next(&search, trials, 2, &answer);      // answer.known, or answer.next is to be tried
 *
 * A monotone regression: how likely a stage is to meet the objectives falls with the load, as a logistic curve of its
 * logarithm around the answer, where the odds are even. Where the answer lies, how steep the curve is, and how often a
 * stage comes out wrong whatever the load, is all unknown: every combination is weighed by how well it explains all the
 * stages (Bayes' rule over a grid; the answer is as likely anywhere on the logarithmic scale beforehand). The next
 * stage is tried at the median of where the answer may be, which halves that on a quiet server, and on a noisy one
 * repeats near the knee until one wrong stage more or less changes nothing. It is known when the interval that holds it
 * with the confidence that was asked for is as narrow as the precision.
 */
#ifndef IPF_SEARCH_H
#define IPF_SEARCH_H

#include "error.h"

#include <stdbool.h>
#include <stddef.h>

struct search {
	double low, high;  /* loads; 0 < low < high */
	double precision;  /* 0.05: the interval reaches 5 % to either side of the answer */
	double confidence; /* of that interval */
	bool whole;        /* loads are whole numbers: the answer is the highest one that meets the objectives */
};

struct search_trial {
	double load;
	double met; /* how likely it is that it met the objectives, from 0 to 1 */
};

struct search_answer {
	enum { SEARCH_WITHIN, SEARCH_BELOW, SEARCH_ABOVE } where; /* below low, above high: as far as is known now */
	bool known;
	double answer, least, most; /* the median and the interval */
	double sure;                /* how likely it lies between least and most, or beyond the end */
	double next;                /* to be tried next, where it is not known */
};

int search_next(const struct search *search, const struct search_trial *trials, size_t count,
                struct search_answer *answer, struct ipf_error *err);

/* How likely a share of at least `wanted` is, where `good` of `count` requests were: the score test, with requests that
 * depend on each other counted as fewer (`effective` of them). */
double share_met(double good, double count, double effective, double wanted);

#endif
