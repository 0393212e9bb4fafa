#include "model/pairs.h"

#include "array.h"

#include <math.h>
#include <stdlib.h>

void pairs_add(struct pairs *p, double x, double y)
{
	size_t at = p->count;
	if (p->seen++ == 0)
		rng_init(&p->rng, 1, "pairs", 0);
	if (p->count == PAIRS_MOST) {
		at = (size_t)rng_below(&p->rng, (uint64_t)p->seen);
		if (at >= PAIRS_MOST)
			return;
	} else if (!array_room(p->items, p->cap, p->count + 1)) {
		p->failed = true;
		return;
	}
	p->items[at][0] = x;
	p->items[at][1] = y;
	p->count += at == p->count;
}

struct ranked {
	double value;
	size_t index;
};

static int by_value(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->value != y->value)
		return x->value < y->value ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

double *pairs_ranks(const struct pairs *p, int side)
{
	struct ranked *sorted = calloc(p->count + 1, sizeof *sorted);
	double *ranks = calloc(p->count + 1, sizeof *ranks);
	for (size_t i = 0; sorted && i < p->count; i++)
		sorted[i] = (struct ranked){p->items[i][side], i};
	if (sorted && p->count)
		qsort(sorted, p->count, sizeof *sorted, by_value);
	for (size_t i = 0; sorted && ranks && i < p->count;) {
		size_t end = i;
		while (end < p->count && sorted[end].value == sorted[i].value)
			end++;
		for (size_t k = i; k < end; k++)
			ranks[sorted[k].index] = (double)(i + end) / 2 / (double)p->count;
		i = end;
	}
	if (!sorted) {
		free(ranks);
		ranks = NULL;
	}
	free(sorted);
	return ranks;
}

double pairs_rank_correlation(const struct pairs *p)
{
	double *x = pairs_ranks(p, 0), *y = pairs_ranks(p, 1), xx = 0, yy = 0, xy = 0;
	for (size_t i = 0; x && y && i < p->count; i++) {
		xx += (x[i] - 0.5) * (x[i] - 0.5);
		yy += (y[i] - 0.5) * (y[i] - 0.5);
		xy += (x[i] - 0.5) * (y[i] - 0.5);
	}
	free(x);
	free(y);
	return xx > 0 && yy > 0 ? xy / sqrt(xx * yy) : NAN;
}

void pairs_release(struct pairs *p)
{
	free(p->items);
	*p = (struct pairs){.count = 0};
}
