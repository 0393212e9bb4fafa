/* Hits of prefix caches of any size: the distances against a searched list, and blocks that are joined. */
#include "unit.h"

#include "stats/lru_curve.h"
#include "workload/prefix_use.h"

#include <string.h>

enum { PROMPTS = 300, DEPTH_MOST = 12 };

/* Prompts that branch at random: each block is one of three after the one before it. */
struct made {
	uint32_t path[PROMPTS][DEPTH_MOST];
	size_t depth[PROMPTS];
	int64_t own[PROMPTS];
};

static void make(struct made *m, struct prefix_tree *tree, uint64_t *random)
{
	for (int i = 0; i < PROMPTS; i++) {
		uint64_t key = 1;
		uint32_t node = PREFIX_ROOT;
		m->depth[i] = test_random(random) % (DEPTH_MOST + 1);
		m->own[i] = (int64_t)(test_random(random) % 5);
		for (size_t k = 0; k < m->depth[i]; k++) {
			key = key * 31 + test_random(random) % 3 + 1;
			m->path[i][k] = node = prefix_tree_add(tree, node, key * UINT64_C(0x9e3779b97f4a7c15),
			                                       16 * ((uint32_t)k + 1));
		}
	}
}

/* A cache of `size` blocks as a list, the block used last first: its hits, in tokens. */
static int64_t searched(const struct made *m, int64_t size)
{
	static uint64_t list[PROMPTS * (DEPTH_MOST + 5)];
	size_t count = 0;
	int64_t hits = 0;
	uint64_t own = UINT64_C(1) << 40;
	for (int i = 0; i < PROMPTS; i++) {
		bool leading = true;
		for (size_t k = 0; k < m->depth[i]; k++) {
			size_t at = 0;
			while (at < count && list[at] != m->path[i][k])
				at++;
			leading = leading && at < count && (int64_t)at < size;
			hits += leading ? 16 : 0;
		}
		/* the end of the prompt comes first, so its beginning is the last that is forgotten */
		for (int64_t k = (int64_t)m->depth[i] + m->own[i] - 1; k >= 0; k--) {
			uint64_t block = k < (int64_t)m->depth[i] ? m->path[i][k] : own++;
			size_t at = 0;
			while (at < count && list[at] != block)
				at++;
			count += at == count;
			memmove(list + 1, list, at * sizeof *list);
			list[0] = block;
		}
	}
	return hits;
}

static void every_size(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		static struct made m;
		struct prefix_tree tree = {0};
		uint64_t random = seed;
		make(&m, &tree, &random);
		for (int64_t size = 1; size < 400; size += 1 + size / 7) {
			struct lru_curve curve;
			assert_int_equal(lru_curve_init(&curve, &tree, PROMPTS, size), 0);
			for (int i = 0; i < PROMPTS; i++)
				lru_curve_use(&curve, m.path[i], m.depth[i], m.depth[i], m.own[i]);
			assert_int_equal(curve.size_hits, searched(&m, size));
			for (int k = 0; k < LRU_SIZES; k++)
				if (lru_size(k) == size)
					assert_int_equal(lru_curve_hits(&curve, k), curve.size_hits);
			lru_curve_release(&curve);
		}
		prefix_tree_release(&tree);
	}
}

static void who_had_what(void **state)
{
	(void)state;
	struct prefix_tree tree = {0};
	struct prefix_use use;
	uint32_t a = prefix_tree_add(&tree, PREFIX_ROOT, 10, 16), b = prefix_tree_add(&tree, a, 11, 32),
			 c = prefix_tree_add(&tree, a, 12, 32);
	assert_int_equal(prefix_tree_add(&tree, a, 12, 32), c);
	assert_int_equal(prefix_use_init(&use, &tree, 2), 0);
	assert_int_equal(prefix_use_found(&use, b), 0);
	prefix_use_start(&use, b, 1);
	assert_int_equal(prefix_use_found(&use, c), 16);
	assert_int_equal(prefix_use_by_others(&use, b, 1), 0);
	prefix_use_start(&use, c, 2);
	assert_int_equal(prefix_use_by_others(&use, b, 1), 16);
	assert_int_equal(prefix_use_by_others(&use, b, 3), 32);
	assert_int_equal(prefix_use_computed(&use, b), 0);
	prefix_use_done(&use, c, 1);
	assert_int_equal(prefix_use_computed(&use, b), 16);
	assert_int_equal(prefix_use_computed_by(&use, b, 0), 0);
	assert_int_equal(prefix_use_computed_by(&use, b, 1), 16);
	assert_int_equal(prefix_use_computed_by(&use, c, -1), 32); /* it may be any */
	prefix_use_done(&use, c, 0);                               /* it is marked, but not by this one */
	assert_int_equal(prefix_use_computed_by(&use, b, 0), 16);
	prefix_use_done(&use, b, -1);
	assert_int_equal(prefix_use_computed(&use, b), 32);
	assert_int_equal(prefix_use_computed_by(&use, b, 0), 16);
	assert_int_equal(prefix_use_found(&use, PREFIX_ROOT), 0);
	prefix_use_release(&use);
	prefix_tree_release(&tree);
}

static void joined_blocks(void **state)
{
	(void)state;
	struct prefix_tree tree = {0};
	uint32_t nodes[7] = {PREFIX_ROOT}, map[8];
	for (uint32_t i = 1; i < 6; i++)
		nodes[i] = prefix_tree_add(&tree, nodes[i - 1], 100 + i, 16 * i);
	nodes[6] = prefix_tree_add(&tree, nodes[1], 200, 32); /* a branch after the first block */
	prefix_tree_halve(&tree, map);
	assert_int_equal(tree.joined, 1);
	assert_int_equal(tree.count, 4); /* root, 2, 4, the branch */
	assert_int_equal(map[nodes[1]], PREFIX_ROOT);
	assert_int_equal(tree.nodes[map[nodes[2]]].tokens, 32);
	assert_int_equal(map[nodes[3]], map[nodes[2]]);
	assert_int_equal(tree.nodes[map[nodes[5]]].tokens, 64);
	assert_int_equal(tree.nodes[map[nodes[4]]].parent, map[nodes[2]]);
	assert_int_equal(tree.nodes[map[nodes[6]]].parent, PREFIX_ROOT);
	assert_int_equal(prefix_tree_add(&tree, PREFIX_ROOT, 102, 32), map[nodes[2]]);
	prefix_tree_release(&tree);
}

static void sizes_are_four_an_octave(void **state)
{
	static const int64_t sizes[] = {1, 1, 1, 1, 2, 2, 3, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28, 32};
	(void)state;
	for (int k = 0; k < (int)(sizeof sizes / sizeof *sizes); k++)
		assert_int_equal(lru_size(k), sizes[k]);
	assert_int_equal(lru_size(LRU_SIZES - 1), INT64_C(7) << 37);
}

/* Two prompts of the same three blocks, of which the second can have two from a cache, and one prompt too many. */
static void prompts_and_their_hits_are_limited(void **state)
{
	(void)state;
	struct prefix_tree tree = {0};
	struct lru_curve curve;
	uint32_t path[3] = {0};
	for (uint32_t i = 0; i < 3; i++)
		path[i] = prefix_tree_add(&tree, i ? path[i - 1] : PREFIX_ROOT, 10 + i, 16 * (i + 1));
	assert_int_equal(lru_curve_init(&curve, &tree, 2, 2), 0);
	lru_curve_use(&curve, path, 3, 3, 2);
	assert_int_equal(curve.largest, 5);
	lru_curve_use(&curve, path, 3, 2, 5);
	lru_curve_use(&curve, path, 3, 3, 9);
	assert_int_equal(curve.largest, 8);
	assert_int_equal(lru_curve_hits(&curve, 3), 16);
	assert_int_equal(lru_curve_hits(&curve, 4), 32);
	assert_int_equal(lru_curve_hits(&curve, LRU_SIZES), 32);
	assert_int_equal(curve.size_hits, 32);
	lru_curve_release(&curve);
	prefix_tree_release(&tree);
}

static void trees_grow_and_are_halved_without_end(void **state)
{
	enum { NODES = 9000 };
	(void)state;
	struct prefix_tree tree = {0};
	static uint32_t nodes[NODES], map[NODES + 1];
	prefix_tree_halve(&tree, map); /* there is nothing to halve */
	assert_int_equal(tree.count, 0);
	assert_int_equal(tree.joined, 0);
	for (uint32_t i = 0; i < NODES; i++)
		nodes[i] = prefix_tree_add(&tree, PREFIX_ROOT, 1 + i * UINT64_C(0x9e3779b97f4a7c15), i);
	for (uint32_t i = 0; i < NODES; i++) {
		assert_int_equal(nodes[i], i + 1);
		assert_int_equal(prefix_tree_add(&tree, PREFIX_ROOT, 1 + i * UINT64_C(0x9e3779b97f4a7c15), i), i + 1);
	}
	for (int i = 1; i < 40; i++) {
		prefix_tree_halve(&tree, map);
		assert_int_equal(tree.count, 1); /* each was a first block */
		assert_int_equal(tree.joined, i < PREFIX_JOINED_MOST ? i : PREFIX_JOINED_MOST);
	}
	prefix_tree_release(&tree);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size),
		cmocka_unit_test(who_had_what),
		cmocka_unit_test(joined_blocks),
		cmocka_unit_test(sizes_are_four_an_octave),
		cmocka_unit_test(prompts_and_their_hits_are_limited),
		cmocka_unit_test(trees_grow_and_are_halved_without_end),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
