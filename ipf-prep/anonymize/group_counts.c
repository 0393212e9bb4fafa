#include "anonymize/group_counts.h"

#include <stdlib.h>

#define SLOT_BITS 17 /* log2 of GROUPS_SLOTS */
#define SLOTS     GROUPS_SLOTS

static bool is_sampled(const struct group_counts *g, uint64_t hash)
{
	return (hash & ((UINT64_C(1) << g->depth) - 1)) == 0;
}

static void add(struct group_counts *g, uint64_t hash, int64_t count)
{
	size_t at = hash >> (64 - SLOT_BITS);
	while (g->slots[at].hash && g->slots[at].hash != hash)
		at = (at + 1) & (SLOTS - 1);
	g->kept += g->slots[at].hash == 0;
	g->slots[at].hash = hash;
	g->slots[at].count += count;
}

/* Keeps about half of the groups. */
static void sample_more(struct group_counts *g)
{
	struct group_count *before = g->slots, *slots = calloc(SLOTS, sizeof *slots);
	if (!slots) {
		g->failed = true;
		return;
	}
	g->slots = slots;
	g->kept = 0;
	g->depth++;
	for (size_t i = 0; i < SLOTS; i++)
		if (before[i].hash && is_sampled(g, before[i].hash))
			add(g, before[i].hash, before[i].count);
	free(before);
}

void group_counts_add(struct group_counts *g, uint64_t hash)
{
	const uint64_t h = hash ? hash : UINT64_C(1) << 63;
	g->values++;
	if (!is_sampled(g, h) || g->failed)
		return;
	if (!g->slots && !(g->slots = calloc(SLOTS, sizeof *g->slots))) {
		g->failed = true;
		return;
	}
	add(g, h, 1);
	while (g->kept > GROUPS_KEPT && !g->failed)
		sample_more(g);
}

static int64_t scaled(const struct group_counts *g, int64_t count, int64_t most)
{
	int64_t all;
	return __builtin_mul_overflow(count, INT64_C(1) << g->depth, &all) || all > most ? most : all;
}

struct small_groups group_counts_below(const struct group_counts *g, int64_t k)
{
	struct small_groups small = {0};
	for (size_t i = 0; g->slots && i < SLOTS; i++)
		if (g->slots[i].hash && g->slots[i].count < k) {
			small.groups++;
			small.values += g->slots[i].count;
		}
	return (struct small_groups){scaled(g, small.groups, g->values), scaled(g, small.values, g->values)};
}

int64_t group_counts_groups(const struct group_counts *g)
{
	return scaled(g, (int64_t)g->kept, g->values);
}

int64_t group_counts_smallest(const struct group_counts *g)
{
	int64_t least = 0;
	for (size_t i = 0; g->slots && i < SLOTS; i++)
		if (g->slots[i].hash && (least == 0 || g->slots[i].count < least))
			least = g->slots[i].count;
	return least;
}

int64_t group_counts_largest(const struct group_counts *g)
{
	int64_t most = 0;
	for (size_t i = 0; g->slots && i < SLOTS; i++)
		if (g->slots[i].hash && g->slots[i].count > most)
			most = g->slots[i].count;
	return most;
}

bool group_counts_is_exact(const struct group_counts *g)
{
	return g->depth == 0;
}

void group_counts_release(struct group_counts *g)
{
	free(g->slots);
	*g = (struct group_counts){0};
}
