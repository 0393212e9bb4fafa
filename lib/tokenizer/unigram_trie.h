/* The tokens of a Unigram model as a trie of bytes, in two sections of the block. All edges are in one hash table: a
 * slot has the node in 28 bits, the byte, and the child in 28 bits; 0 is a free slot, since the root is never a child.
 * The other section has the token ending at each node. */
#ifndef IPF_TOKENIZER_UNIGRAM_TRIE_H
#define IPF_TOKENIZER_UNIGRAM_TRIE_H

#include "tokenizer/compiled_block.h"

#define TRIE_NODES (UINT32_C(1) << 28)

struct unigram_trie {
	const uint64_t *edges;
	const uint32_t *ids; /* by node; VOCABULARY_NONE: no token ends here */
	uint32_t mask;
};

/* Returns the slot of an edge, or the free slot where it would be. */
static inline uint32_t trie_slot(const uint64_t *edges, uint32_t mask, uint64_t key)
{
	uint32_t i = (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;
	while (edges[i] && edges[i] >> 28 != key)
		i = (i + 1) & mask;
	return i;
}

/* Returns the child; 0: none. The root is node 0. */
static inline uint32_t unigram_trie_child(const struct unigram_trie *t, uint32_t node, unsigned char byte)
{
	return (uint32_t)(t->edges[trie_slot(t->edges, t->mask, (uint64_t)node << 8 | byte)] & (TRIE_NODES - 1));
}

/* Fills the sections from the texts of the tokens. If a text occurs twice, the last token counts. */
int unigram_trie_build(struct compiled_builder *b, const struct vocabulary *v, struct ipf_error *err);
void unigram_trie_of(struct unigram_trie *t, const struct compiled_block *block);

#endif
