/* The beginnings of prompts as a tree: a node is a block of tokens after all the blocks before it, so two prompts share
 * the nodes of their common beginning, and a prompt is one node: that of its last block.
 *
 *     struct prefix_tree tree = {0};
 *     uint32_t node = PREFIX_ROOT;
 *     node = prefix_tree_add(&tree, node, hash_of_all_up_to_here, tokens_up_to_here);    // for each block
 *     if (tree.failed) …
 *     prefix_tree_release(&tree);
 *
 * A node's number is greater than its parent's. Memory is bounded by prefix_tree_halve(), which joins blocks in pairs:
 * a larger trace is known in larger blocks.
 */
#ifndef IPF_PREFIX_TREE_H
#define IPF_PREFIX_TREE_H

#include <stdbool.h>
#include <stdint.h>

#define PREFIX_ROOT ((uint32_t)0)
/* The nodes from which on blocks are to be joined: about 256 MiB of them. */
#define PREFIX_NODES_MOST ((uint32_t)1 << 23)
/* Halvings that count: the blocks of more are longer than any prompt. */
#define PREFIX_JOINED_MOST 32

struct prefix_node {
	uint64_t key;    /* hash of all tokens up to the end of the block */
	uint32_t parent; /* the block before it */
	uint32_t tokens; /* up to the end of the block, from the beginning of the prompt */
};

/* Zero-initialise. */
struct prefix_tree {
	struct prefix_node *nodes; /* 0 is the root, without a block */
	uint32_t count, cap;
	uint32_t *slots; /* a hash table of numbers; 0: free */
	uint32_t slot_count;
	uint32_t joined; /* halvings so far: a node is 2^joined blocks */
	bool failed;     /* out of memory */
};

/* The node with this key after `parent`, which is added if it is new. The parent, if memory runs out. */
uint32_t prefix_tree_add(struct prefix_tree *tree, uint32_t parent, uint64_t key, uint32_t tokens);
/* Leaves out every other node from the root on. `map` (one for each node, set here) is where a node is from now on: its
 * own new number, or its parent's. */
void prefix_tree_halve(struct prefix_tree *tree, uint32_t *map);
void prefix_tree_release(struct prefix_tree *tree);

#endif
