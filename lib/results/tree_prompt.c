#include "results/tree_prompt.h"

/* At the end of a block, which may be joined of several. */
static void note_block(struct prompt_chain *chain)
{
	struct tree_prompt *p = (struct tree_prompt *)chain;
	const int64_t block = (int64_t)PROMPT_BLOCK << p->tree->joined;
	if ((chain->tokens & (block - 1)) == 0 && chain->tokens <= UINT32_MAX)
		p->node = prefix_tree_add(p->tree, p->node, chain->hash, (uint32_t)chain->tokens);
}

void tree_prompt_begin(struct tree_prompt *p, struct slice model)
{
	p->chain.block = note_block;
	p->node = PREFIX_ROOT;
	prompt_chain_begin(&p->chain, model);
}
