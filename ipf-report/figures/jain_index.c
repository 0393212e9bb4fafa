#include "figures/jain_index.h"

#include <math.h>

void jain_index_add(struct jain_index *index, double x)
{
	index->count++;
	index->sum += x;
	index->squares += x * x;
}

double jain_index(const struct jain_index *index)
{
	if (index->count < 2 || !(index->squares > 0))
		return NAN;
	double fair = index->sum * index->sum / ((double)index->count * index->squares);
	return fair < 1 ? fair : 1; /* rounding can exceed 1 */
}
