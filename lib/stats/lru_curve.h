/* The hits of prefix caches of any size, in one pass: the distances of Mattson, Gecsei, Slutz and Traiger ("Evaluation
 * techniques for storage hierarchies", 1970). A cache of N blocks that replaces the least recently used one has a block
 * if fewer than N other blocks were used since it was; so the number of these is kept for each hit, and the hits of any
 * N are those of at most N.
 *
 *     struct lru_curve curve;
 *     lru_curve_init(&curve, prompts, size);
 *     lru_curve_use(&curve, path, depth, most, own);    // each prompt in the order of its start
 *     lru_curve_hits(&curve, k) …                       // tokens found in lru_size(k) blocks
 *     lru_curve_release(&curve);
 *
 * A prompt uses all of its blocks at once, and the end of a prompt is forgotten before its beginning, as servers do.
 */
#ifndef IPF_LRU_CURVE_H
#define IPF_LRU_CURVE_H

#include "stats/prefix_tree.h"

#include <stddef.h>

/* Sizes of which hits are kept: four an octave, 1 … 2^40 blocks. */
enum { LRU_SIZES = 160 };
int64_t lru_size(int k); /* blocks */

struct lru_curve {
	const struct prefix_tree *tree;
	uint32_t *last; /* for each node: the number of the prompt that used it last, from 1; 0: none */
	int64_t *sums;  /* Fenwick tree (Fenwick 1994), from 1: for each prompt, its blocks that no later one has used */
	int64_t prompts, now;
	int64_t largest;         /* blocks of the largest prompt: a cache that is smaller could not serve it */
	int64_t hits[LRU_SIZES]; /* tokens found at a distance of more than size k-1 and at most size k */
	int64_t size;            /* an own size in blocks; 0: none */
	int64_t size_hits;       /* tokens found in it */
};

/* For so many prompts; `tree` is complete, and borrowed. -1: out of memory. */
int lru_curve_init(struct lru_curve *curve, const struct prefix_tree *tree, int64_t prompts, int64_t size);
/* The next prompt: the nodes of its blocks from the first on, of which only the first `most` can be hits, and `own`
 * further blocks that no other prompt has. */
void lru_curve_use(struct lru_curve *curve, const uint32_t *path, size_t depth, size_t most, int64_t own);
int64_t lru_curve_hits(const struct lru_curve *curve, int k);
void lru_curve_release(struct lru_curve *curve);

#endif
