#include "draft/arrivals.h"

#include "absent.h"
#include "clock.h"
#include "stats/rng.h"

#include <math.h>
#include <stdlib.h>

/* ---- stamps ---- */

struct stamp {
	int64_t *at_ns;
	int64_t was_ns;
	size_t index;
};

static int by_stamp(const void *a, const void *b)
{
	const struct stamp *x = a, *y = b;
	if (x->was_ns != y->was_ns)
		return x->was_ns < y->was_ns ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

/* The median distance between stamps that follow each other. */
static int64_t median_step(const struct stamp *stamps, size_t count, int64_t *space)
{
	size_t steps = 0;
	for (size_t i = 1; i < count; i++)
		if (stamps[i].was_ns > stamps[i - 1].was_ns)
			space[steps++] = stamps[i].was_ns - stamps[i - 1].was_ns;
	if (steps == 0)
		return 0;
	qsort(space, steps, sizeof *space, by_value);
	return space[steps / 2];
}

static void spread(struct stamp *stamps, size_t count, int64_t *space, uint64_t seed)
{
	int64_t median = median_step(stamps, count, space);
	struct rng rng;
	rng_init(&rng, seed, "dequantise", 0);
	for (size_t i = 0; i < count;) {
		size_t end = i;
		while (end < count && stamps[end].was_ns == stamps[i].was_ns)
			end++;
		int64_t step = end < count ? stamps[end].was_ns - stamps[i].was_ns : median;
		step = step < median ? step : median;
		for (size_t k = i; k < end; k++)
			space[k] = step > 0 ? (int64_t)rng_below(&rng, (uint64_t)step) : 0;
		qsort(space + i, end - i, sizeof *space, by_value);
		for (size_t k = i; k < end; k++)
			*stamps[k].at_ns += space[k];
		i = end;
	}
}

int arrivals_dequantise(struct reorder *h, uint64_t seed)
{
	size_t count = 0, at = 0;
	for (size_t i = 0; i < reorder_count(h); i++)
		count += reorder_draft(h, i)->count;
	struct stamp *stamps = calloc(count + 1, sizeof *stamps);
	int64_t *space = calloc(count + 1, sizeof *space);
	for (size_t i = 0; stamps && space && i < reorder_count(h); i++) {
		struct draft *d = reorder_draft(h, i);
		for (size_t k = 0; k < d->count; k++)
			if (d->requests[k].at_ns != IPF_ABSENT) {
				stamps[at] = (struct stamp){&d->requests[k].at_ns, d->requests[k].at_ns, at};
				at++;
			}
	}
	int status = stamps && space ? 0 : -1;
	if (status == 0 && at > 0) {
		qsort(stamps, at, sizeof *stamps, by_stamp);
		spread(stamps, at, space, seed);
		reorder_update_times(h);
	}
	free(stamps);
	free(space);
	return status;
}

/* ---- more or fewer ---- */

static int by_arrival(const void *a, const void *b)
{
	const struct scaled_group *x = a, *y = b;
	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->copy < y->copy ? -1 : x->copy > y->copy;
}

static int64_t arrival(const struct draft_group *unit)
{
	return unit->drafts[0]->requests[0].at_ns;
}

/* Copies arrive within so much of their originals. */
static int64_t window_ns(const struct draft_group *units, size_t count)
{
	int64_t first = INT64_MAX, last = INT64_MIN, wide = 30 * NS_PER_S;
	for (size_t i = 0; i < count; i++) {
		int64_t at_ns = arrival(&units[i]);
		if (at_ns == IPF_ABSENT)
			continue;
		first = at_ns < first ? at_ns : first;
		last = at_ns > last ? at_ns : last;
	}
	if (last <= first)
		return wide;
	int64_t gaps = (last - first) / (int64_t)count * 10;
	return gaps > wide ? gaps : wide;
}

struct scaled_group *arrivals_scale(const struct draft_group *units, size_t count, double factor, int64_t from_ns,
                                    uint64_t seed, size_t *made)
{
	double most = (double)count * ceil(factor) + 1;
	struct scaled_group *list = most < 1e12 ? calloc((size_t)most, sizeof *list) : NULL;
	int64_t window = window_ns(units, count);
	*made = 0;
	for (size_t i = 0; list && i < count; i++) {
		const struct draft *d = units[i].drafts[0];
		struct rng rng;
		rng_init(&rng, seed, "scale", (uint64_t)d->number + (uint64_t)d->part * UINT64_C(0x9e3779b97f4a7c15));
		int64_t copies = (int64_t)floor(factor) + (rng_uniform(&rng) < factor - floor(factor)),
				at_ns = arrival(&units[i]);
		for (int64_t k = 0; k < copies; k++) {
			struct scaled_group s = {.group = i, .copy = k, .at_ns = at_ns};
			if (k > 0 && at_ns != IPF_ABSENT) {
				s.shift_ns = (int64_t)rng_below(&rng, 2 * (uint64_t)window) - window;
				if (at_ns + s.shift_ns < from_ns)
					s.shift_ns = -s.shift_ns;
				s.at_ns += s.shift_ns;
			}
			list[(*made)++] = s;
		}
	}
	if (list && *made)
		qsort(list, *made, sizeof *list, by_arrival);
	return list;
}
