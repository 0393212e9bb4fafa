#include "stats/prefix_tree.h"

#include <stdlib.h>

static uint32_t *slot_of(const struct prefix_tree *tree, uint64_t key)
{
	uint32_t mask = tree->slot_count - 1, at = (uint32_t)(key ^ key >> 32) & mask;
	while (tree->slots[at] && tree->nodes[tree->slots[at]].key != key)
		at = (at + 1) & mask;
	return &tree->slots[at];
}

static void fill_slots(struct prefix_tree *tree)
{
	for (uint32_t i = 0; i < tree->slot_count; i++)
		tree->slots[i] = 0;
	for (uint32_t i = 1; i < tree->count; i++)
		*slot_of(tree, tree->nodes[i].key) = i;
}

/* Keeps room for one more node, and the slots at most half full. */
static bool make_room(struct prefix_tree *tree)
{
	if (tree->count < tree->cap)
		return true;
	uint32_t cap = tree->cap ? 2 * tree->cap : 4096;
	struct prefix_node *nodes = tree->cap <= UINT32_MAX / 8 ? realloc(tree->nodes, cap * sizeof *nodes) : NULL;
	if (nodes)
		tree->nodes = nodes;
	uint32_t *slots = nodes ? malloc(2 * (size_t)cap * sizeof *slots) : NULL;
	if (!slots) {
		tree->failed = true;
		return false;
	}
	if (tree->count == 0)
		nodes[tree->count++] = (struct prefix_node){.key = 0};
	free(tree->slots);
	tree->slots = slots;
	tree->slot_count = 2 * cap;
	tree->cap = cap;
	fill_slots(tree);
	return true;
}

uint32_t prefix_tree_add(struct prefix_tree *tree, uint32_t parent, uint64_t key, uint32_t tokens)
{
	if (tree->failed || !make_room(tree))
		return parent;
	uint32_t *slot = slot_of(tree, key);
	if (*slot)
		return *slot;
	*slot = tree->count;
	tree->nodes[tree->count] = (struct prefix_node){key, parent, tokens};
	return tree->count++;
}

void prefix_tree_halve(struct prefix_tree *tree, uint32_t *map)
{
	uint32_t kept = 1;
	if (tree->count == 0)
		return;
	/* in the order of numbers, so a node's parent has been decided on */
	bool *left_out = calloc(tree->count, sizeof *left_out);
	if (!left_out) {
		tree->failed = true;
		return;
	}
	map[0] = PREFIX_ROOT;
	for (uint32_t i = 1; i < tree->count; i++) {
		struct prefix_node node = tree->nodes[i];
		left_out[i] = !left_out[node.parent];
		node.parent = map[node.parent];
		map[i] = left_out[i] ? node.parent : kept;
		if (!left_out[i])
			tree->nodes[kept++] = node;
	}
	free(left_out);
	tree->count = kept;
	tree->joined += tree->joined < PREFIX_JOINED_MOST;
	fill_slots(tree);
}

void prefix_tree_release(struct prefix_tree *tree)
{
	free(tree->nodes);
	free(tree->slots);
	*tree = (struct prefix_tree){0};
}
