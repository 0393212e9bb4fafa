#include "dispatch/arrival_ends.h"

#include "array.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK 1024

/* The arrivals from one first_n of a stage to the next higher one. */
struct arrival_segment {
	int64_t first_n;
	size_t stage;
	uint64_t **chunks; /* NULL: none added yet, or forgotten */
	size_t count, forgotten;
};

struct arrival_ends {
	struct arrival_segment
		*segments; /* in order of first_n: a stage may have higher n than those after it (warmup.h) */
	size_t *of_stage;
	size_t count;
};

/* An entry is 0 (unknown), a node's address, or a time shifted up with the lowest bit set. */
#define NEVER UINT64_MAX

static int by_first_n(const void *a, const void *b)
{
	const struct arrival_segment *x = a, *y = b;
	if (x->first_n != y->first_n)
		return x->first_n < y->first_n ? -1 : 1;
	return (x->stage > y->stage) - (x->stage < y->stage);
}

struct arrival_ends *arrival_ends_new(const struct schedule *schedule)
{
	struct arrival_ends *e = calloc(1, sizeof *e);
	if (!e)
		return NULL;
	e->segments = calloc(schedule->count + 1, sizeof *e->segments);
	e->of_stage = calloc(schedule->count + 1, sizeof *e->of_stage);
	if (!e->segments || !e->of_stage) {
		arrival_ends_free(e);
		return NULL;
	}
	e->count = schedule->count ? schedule->count : 1;
	for (size_t i = 0; i < schedule->count; i++)
		e->segments[i] = (struct arrival_segment){.first_n = schedule->stages[i].first_n, .stage = i};
	qsort(e->segments, e->count, sizeof *e->segments, by_first_n);
	for (size_t i = 0; i < e->count; i++)
		e->of_stage[e->segments[i].stage] = i;
	return e;
}

void arrival_ends_free(struct arrival_ends *e)
{
	if (!e)
		return;
	for (size_t i = 0; i < e->count; i++) {
		for (size_t k = 0; k < e->segments[i].count; k++)
			free(e->segments[i].chunks[k]);
		free(e->segments[i].chunks);
	}
	free(e->segments);
	free(e->of_stage);
	free(e);
}

/* The last segment beginning at or before n. */
static struct arrival_segment *segment_of(const struct arrival_ends *e, int64_t n)
{
	size_t low = 0, high = e->count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (e->segments[middle].first_n <= n)
			low = middle;
		else
			high = middle;
	}
	return n >= e->segments[low].first_n ? &e->segments[low] : NULL;
}

static uint64_t *entry(const struct arrival_ends *e, int64_t n)
{
	struct arrival_segment *s = segment_of(e, n);
	size_t at = s ? (size_t)(n - s->first_n) / CHUNK : 0;
	return s && at < s->count && s->chunks[at] ? &s->chunks[at][(size_t)(n - s->first_n) % CHUNK] : NULL;
}

int arrival_ends_reserve(struct arrival_ends *e, int64_t n)
{
	struct arrival_segment *s = segment_of(e, n);
	if (!s)
		return -1;
	size_t at = (size_t)(n - s->first_n) / CHUNK;
	if (!array_reach(s->chunks, s->count, at))
		return -1;
	if (!s->chunks[at])
		s->chunks[at] = calloc(CHUNK, sizeof **s->chunks);
	return s->chunks[at] ? 0 : -1;
}

void arrival_ends_set_node(struct arrival_ends *e, int64_t n, struct dispatch_node *node)
{
	uint64_t *to = entry(e, n);
	if (to)
		*to = (uint64_t)(uintptr_t)node;
}

void arrival_ends_set(struct arrival_ends *e, int64_t n, int64_t end_ns)
{
	uint64_t *to = entry(e, n);
	if (to)
		*to = end_ns == ARRIVAL_ENDS_NEVER ? NEVER : (uint64_t)(end_ns < 0 ? 0 : end_ns) << 1 | 1;
}

int64_t arrival_ends_get(const struct arrival_ends *e, int64_t n, struct dispatch_node **node)
{
	const uint64_t *at = entry(e, n);
	*node = NULL;
	if (!at || !*at)
		return ARRIVAL_ENDS_UNKNOWN;
	if (*at == NEVER)
		return ARRIVAL_ENDS_NEVER;
	if (*at & 1)
		return (int64_t)(*at >> 1);
	*node = (struct dispatch_node *)(uintptr_t)*at;
	return ARRIVAL_ENDS_UNKNOWN;
}

void arrival_ends_forget(struct arrival_ends *e, int64_t below_n, size_t stage)
{
	struct arrival_segment *s = &e->segments[e->of_stage[stage]];
	while (below_n > s->first_n && (size_t)(below_n - s->first_n) / CHUNK > s->forgotten && s->forgotten < s->count) {
		free(s->chunks[s->forgotten]);
		s->chunks[s->forgotten++] = NULL;
	}
}
