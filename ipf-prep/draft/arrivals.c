#include "draft/arrivals.h"

#include "absent.h"
#include "clock.h"
#include "stats/rng.h"

#include <math.h>
#include <stdlib.h>

/* ---- coarse timestamps ---- */

struct recorded_time {
	int64_t *at_ns;
	int64_t recorded_ns;
	size_t index;
};

static int by_timestamp(const void *a, const void *b)
{
	const struct recorded_time *x = a, *y = b;
	if (x->recorded_ns != y->recorded_ns)
		return x->recorded_ns < y->recorded_ns ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return x < y ? -1 : x > y;
}

/* The median distance between distinct successive timestamps; 0 if there are none. `space` is for `count` numbers. */
static int64_t median_step(const struct recorded_time *timestamps, size_t count, int64_t *space)
{
	size_t steps = 0;
	for (size_t i = 1; i < count; i++)
		if (timestamps[i].recorded_ns > timestamps[i - 1].recorded_ns)
			space[steps++] = timestamps[i].recorded_ns - timestamps[i - 1].recorded_ns;
	if (steps == 0)
		return 0;
	qsort(space, steps, sizeof *space, by_value);
	return space[steps / 2];
}

/* Moves the sorted arrivals. `space` is for `count` numbers. */
static void spread(struct recorded_time *timestamps, size_t count, int64_t *space, uint64_t seed)
{
	int64_t median = median_step(timestamps, count, space);
	struct rng rng;
	rng_init(&rng, seed, "dequantise", 0);
	for (size_t i = 0; i < count;) {
		size_t end = i;
		while (end < count && timestamps[end].recorded_ns == timestamps[i].recorded_ns)
			end++;
		int64_t step = end < count ? timestamps[end].recorded_ns - timestamps[i].recorded_ns : median;
		step = step < median ? step : median;
		for (size_t k = i; k < end; k++)
			space[k] = step > 0 ? (int64_t)rng_below(&rng, (uint64_t)step) : 0;
		qsort(space + i, end - i, sizeof *space, by_value);
		for (size_t k = i; k < end; k++)
			*timestamps[k].at_ns += space[k];
		i = end;
	}
}

int arrivals_dequantise(struct reorder *h, uint64_t seed)
{
	size_t count = 0, at = 0;
	for (size_t i = 0; i < reorder_count(h); i++)
		count += reorder_draft(h, i)->count;
	struct recorded_time *timestamps = calloc(count + 1, sizeof *timestamps);
	int64_t *space = calloc(count + 1, sizeof *space);
	for (size_t i = 0; timestamps && space && i < reorder_count(h); i++) {
		struct draft *d = reorder_draft(h, i);
		for (size_t k = 0; k < d->count; k++)
			if (d->requests[k].at_ns != IPF_ABSENT) {
				timestamps[at] = (struct recorded_time){&d->requests[k].at_ns, d->requests[k].at_ns, at};
				at++;
			}
	}
	int status = timestamps && space ? 0 : -1;
	if (status == 0 && at > 0) {
		qsort(timestamps, at, sizeof *timestamps, by_timestamp);
		spread(timestamps, at, space, seed);
		reorder_update_times(h);
	}
	free(timestamps);
	free(space);
	return status;
}

/* ---- scaling ---- */

static int by_arrival(const void *a, const void *b)
{
	const struct scaled_group *x = a, *y = b;
	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->copy < y->copy ? -1 : x->copy > y->copy;
}

static int64_t arrival(const struct draft_group *group)
{
	return group->drafts[0]->requests[0].at_ns;
}

/* The largest distance between the arrivals of a copy and its original. */
static int64_t window_ns(const struct draft_group *groups, size_t count)
{
	int64_t first = INT64_MAX, last = INT64_MIN, least = 30 * NS_PER_S;
	for (size_t i = 0; i < count; i++) {
		int64_t at_ns = arrival(&groups[i]);
		if (at_ns == IPF_ABSENT)
			continue;
		first = at_ns < first ? at_ns : first;
		last = at_ns > last ? at_ns : last;
	}
	if (last <= first)
		return least;
	int64_t gaps = (last - first) / (int64_t)count * 10;
	return gaps > least ? gaps : least;
}

struct scaled_group *arrivals_scale(const struct draft_group *groups, size_t count, double factor, int64_t from_ns,
                                    uint64_t seed, size_t *scaled)
{
	double most = (double)count * ceil(factor) + 1;
	struct scaled_group *list = most < 1e12 ? calloc((size_t)most, sizeof *list) : NULL;
	int64_t window = window_ns(groups, count);
	*scaled = 0;
	for (size_t i = 0; list && i < count; i++) {
		const struct draft *d = groups[i].drafts[0];
		struct rng rng;
		rng_init(&rng, seed, "scale", (uint64_t)d->number + (uint64_t)d->part * UINT64_C(0x9e3779b97f4a7c15));
		int64_t copies = (int64_t)floor(factor) + (rng_uniform(&rng) < factor - floor(factor)),
				at_ns = arrival(&groups[i]);
		for (int64_t k = 0; k < copies; k++) {
			struct scaled_group s = {.group = i, .copy = k, .at_ns = at_ns};
			if (k > 0 && at_ns != IPF_ABSENT) {
				s.shift_ns = (int64_t)rng_below(&rng, 2 * (uint64_t)window) - window;
				if (at_ns + s.shift_ns < from_ns)
					s.shift_ns = -s.shift_ns;
				s.at_ns += s.shift_ns;
			}
			list[(*scaled)++] = s;
		}
	}
	if (list && *scaled)
		qsort(list, *scaled, sizeof *list, by_arrival);
	return list;
}
