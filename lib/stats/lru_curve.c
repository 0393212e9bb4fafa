#include "stats/lru_curve.h"

#include <stdlib.h>

int64_t lru_size(int k)
{
	return (INT64_C(4) + k % 4) << (k / 4) >> 2;
}

/* The first size at least `blocks`. */
static int size_for(int64_t blocks)
{
	int octave = 63 - __builtin_clzll((uint64_t)blocks);
	for (int k = 4 * octave; k < LRU_SIZES; k++)
		if (lru_size(k) >= blocks)
			return k;
	return LRU_SIZES - 1;
}

int lru_curve_init(struct lru_curve *c, const struct prefix_tree *tree, int64_t prompts, int64_t size)
{
	*c = (struct lru_curve){.tree = tree, .prompts = prompts, .size = size};
	c->last = calloc((size_t)tree->count + 1, sizeof *c->last);
	c->sums = calloc((size_t)prompts + 1, sizeof *c->sums);
	return c->last && c->sums ? 0 : -1;
}

static void add_blocks(struct lru_curve *c, int64_t prompt, int64_t blocks)
{
	for (int64_t i = prompt; i <= c->prompts; i += i & -i)
		c->sums[i] += blocks;
}

/* Blocks used last by prompts after this one. */
static int64_t used_since(const struct lru_curve *c, int64_t prompt)
{
	int64_t sum = 0;
	for (int64_t i = c->now - 1; i > 0; i -= i & -i)
		sum += c->sums[i];
	for (int64_t i = prompt; i > 0; i -= i & -i)
		sum -= c->sums[i];
	return sum;
}

static void add_hit(struct lru_curve *c, uint32_t node, int64_t distance)
{
	const struct prefix_node *n = &c->tree->nodes[node];
	int64_t tokens = (int64_t)n->tokens - c->tree->nodes[n->parent].tokens;
	c->hits[size_for(distance)] += tokens;
	if (distance <= c->size)
		c->size_hits += tokens;
}

/* Within those that one prompt used last, the ones nearest to the beginning of the prompt were used last. */
void lru_curve_use(struct lru_curve *c, const uint32_t *path, size_t depth, size_t most, int64_t own)
{
	if (c->now >= c->prompts)
		return;
	c->now++;
	for (size_t i = 0; i < depth;) {
		int64_t before = c->last[path[i]], since = before ? used_since(c, before) : 0;
		size_t first = i;
		for (; i < depth && c->last[path[i]] == before; i++) {
			if (before && i < most)
				add_hit(c, path[i], (int64_t)first + since + 1 + (int64_t)(i - first));
			c->last[path[i]] = (uint32_t)c->now;
		}
		if (before)
			add_blocks(c, before, -(int64_t)(i - first));
	}
	add_blocks(c, c->now, (int64_t)depth + own);
	c->largest = (int64_t)depth + own > c->largest ? (int64_t)depth + own : c->largest;
}

int64_t lru_curve_hits(const struct lru_curve *c, int k)
{
	int64_t sum = 0;
	for (int i = 0; i <= k && i < LRU_SIZES; i++)
		sum += c->hits[i];
	return sum;
}

void lru_curve_release(struct lru_curve *c)
{
	free(c->last);
	free(c->sums);
}
