/* A prompt of the trace as blocks of tokens in a prefix_tree.
 *
 *     struct tree_prompt prompt = {.tree = &tree};
 *     tree_prompt_begin(&prompt, model);
 *     prompt_chain_add(&prompt.chain, &request, &scratch, &err);     // and so on: prompt_chain.h
 *     … prompt.node, prompt.chain.tokens …
 */
#ifndef IPF_TREE_PROMPT_H
#define IPF_TREE_PROMPT_H

#include "stream/prompt_chain.h"
#include "stats/prefix_tree.h"

struct tree_prompt {
	struct prompt_chain chain; /* its first member */
	struct prefix_tree *tree;
	uint32_t node; /* the last whole block's */
};

/* Begins a prompt for a model, see prompt_chain_begin. */
void tree_prompt_begin(struct tree_prompt *prompt, struct slice model);

#endif
