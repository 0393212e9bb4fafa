#include "other_tools/weighted_values.h"

#include "array.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define KEPT   ((size_t)4 << 20)
#define JOINED 1e-3

const double weighted_percentiles[WEIGHTED_PERCENTILES] = {0.1, 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9};

static int compare(const void *a, const void *b)
{
	const struct weighted_value *x = a, *y = b;
	return (x->value > y->value) - (x->value < y->value);
}

/* Sorts, and joins values equal, or within `share` of the first of them. */
static void join(struct weighted_values *v, double share)
{
	size_t used = 0;
	double limit = 0;
	if (v->count)
		qsort(v->list, v->count, sizeof *v->list, compare);
	for (size_t i = 0; i < v->count; i++) {
		struct weighted_value next = v->list[i], *last = used ? &v->list[used - 1] : NULL;
		if (last && next.value <= limit) {
			if (next.value > last->value)
				last->value += (next.value - last->value) * next.weight / (last->weight + next.weight);
			last->weight += next.weight;
		} else {
			v->list[used++] = next;
			limit = next.value + fabs(next.value) * share;
		}
	}
	v->count = used;
}

void weighted_values_add(struct weighted_values *v, double value, double weight)
{
	if (isnan(value) || !(weight > 0))
		return;
	if (v->count == KEPT)
		join(v, JOINED);
	if (!array_room(v->list, v->cap, v->count + 1))
		return;
	v->list[v->count++] = (struct weighted_value){value, weight};
	v->weight += weight;
}

void weighted_values_summarise(struct weighted_values *v, struct weighted_summary *s)
{
	double below = 0, most = 0;
	int p = 0;
	*s = (struct weighted_summary){0};
	join(v, 0);
	if (v->count == 0)
		return;
	s->min = v->list[0].value;
	s->max = v->list[v->count - 1].value;
	for (size_t i = 0; i < v->count; i++) {
		double value = v->list[i].value, share = v->list[i].weight / v->weight;
		s->mean += value * share;
		if (share > most) {
			most = share;
			s->mode = value;
		}
		below += share;
		for (; p < WEIGHTED_PERCENTILES && (below >= weighted_percentiles[p] / 100 || i + 1 == v->count); p++)
			s->percentile[p] = value;
	}
	for (size_t i = 0; i < v->count; i++) {
		double away = v->list[i].value - s->mean;
		s->variance += away * away * v->list[i].weight / v->weight;
	}
}

void weighted_values_release(struct weighted_values *v)
{
	free(v->list);
	*v = (struct weighted_values){0};
}
