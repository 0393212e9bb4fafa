#include "shape/distinct_count.h"

#include <math.h>
#include <stdlib.h>

/* Twice as many as are kept. */
#define SLOT_BITS 16
#define SLOTS     ((size_t)1 << SLOT_BITS)

static bool is_sampled(const struct distinct_count *d, uint64_t h)
{
	return (h & ((UINT64_C(1) << d->depth) - 1)) == 0;
}

static void keep(struct distinct_count *d, uint64_t h)
{
	size_t at = h >> (64 - SLOT_BITS);
	while (d->slots[at] && d->slots[at] != h)
		at = (at + 1) & (SLOTS - 1);
	d->count += d->slots[at] == 0;
	d->slots[at] = h;
}

/* Keeps about half of the values. */
static void sample_more(struct distinct_count *d)
{
	uint64_t *before = d->slots;
	uint64_t *slots = calloc(SLOTS, sizeof *slots);
	if (!slots) {
		d->failed = true;
		return;
	}
	d->slots = slots;
	d->count = 0;
	d->depth++;
	for (size_t i = 0; i < SLOTS; i++)
		if (before[i] && is_sampled(d, before[i]))
			keep(d, before[i]);
	free(before);
}

void distinct_count_add(struct distinct_count *d, uint64_t hash)
{
	const uint64_t h = hash ? hash : UINT64_C(1) << 63;
	if (!is_sampled(d, h) || d->failed)
		return;
	if (!d->slots && !(d->slots = calloc(SLOTS, sizeof *d->slots))) {
		d->failed = true;
		return;
	}
	keep(d, h);
	while (d->count > DISTINCT_KEPT && !d->failed)
		sample_more(d);
}

double distinct_count_estimate(const struct distinct_count *d)
{
	return ldexp((double)d->count, (int)d->depth);
}

double distinct_count_error(const struct distinct_count *d)
{
	return d->depth ? 1 / sqrt((double)d->count) : 0;
}

void distinct_count_release(struct distinct_count *d)
{
	free(d->slots);
	*d = (struct distinct_count){0};
}
