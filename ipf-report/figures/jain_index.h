/* Jain's index of fairness: (sum of x)² / (n * sum of x²), from 1 / n, if one has all, to 1, if all have the same
 * (Jain, Chiu, Hawe, "A Quantitative Measure of Fairness and Discrimination for Resource Allocation in Shared Computer
 * Systems", DEC-TR-301, 1984). It does not depend on the unit of x.
 */
#ifndef IPF_JAIN_INDEX_H
#define IPF_JAIN_INDEX_H

#include <stddef.h>

struct jain_index { /* zero-initialise */
	size_t count;
	double sum, squares;
};

/* x: 0 or more. */
void jain_index_add(struct jain_index *index, double x);
/* NAN of fewer than two, or if none has anything. */
double jain_index(const struct jain_index *index);

#endif
