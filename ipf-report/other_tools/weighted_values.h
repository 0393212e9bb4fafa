/* The distribution of values with weights, as GuideLLM describes it (guidellm 0.8.1, schemas/base/statistics.py,
 * DistributionSummary): a percentile is the least value at which the weights up to and including it reach that share of
 * all, so it is always one of the values.
 *
 *     struct weighted_values v = {0};
 *     weighted_values_add(&v, 12.5, 3);          // as if it had been seen three times, or for 3 s
 *     struct weighted_summary s;
 *     weighted_values_summarise(&v, &s);
 *     s.percentile[WEIGHTED_P50]
 *     weighted_values_release(&v);
 *
 * Up to four million values are kept as they are. Beyond, values differing by less than 0.1 % are joined to their mean,
 * so memory stays bounded however many there are. Running out of memory loses values and is remembered by memory.h.
 */
#ifndef REPORT_WEIGHTED_VALUES_H
#define REPORT_WEIGHTED_VALUES_H

#include <stddef.h>

struct weighted_value {
	double value, weight;
};

/* Zero-initialise. */
struct weighted_values {
	struct weighted_value *list;
	size_t count, cap;
	double weight; /* all weights' sum */
};

enum { WEIGHTED_PERCENTILES = 11, WEIGHTED_P50 = 5 };
extern const double weighted_percentiles[WEIGHTED_PERCENTILES]; /* 0.1, 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9 */

/* All 0 without values. */
struct weighted_summary {
	double mean, mode, variance, min, max;
	double percentile[WEIGHTED_PERCENTILES];
};

/* Nothing is added if the value is NAN or the weight is not above 0. */
void weighted_values_add(struct weighted_values *v, double value, double weight);
/* Sorts. */
void weighted_values_summarise(struct weighted_values *v, struct weighted_summary *s);
void weighted_values_release(struct weighted_values *v);

#endif
