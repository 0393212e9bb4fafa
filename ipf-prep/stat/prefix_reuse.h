/* What prompts share: the share of blocks that were seen before, and what a prefix cache that never forgets would find.
 *
 * A prompt is a run of blocks, each with an id and a length. A prefix cache finds the leading blocks of a prompt that
 * stood in the same order at the beginning of an earlier one; "earlier" is by arrival where the requests have one.
 *
 *     struct prefix_reuse reuse = {0};
 *     prefix_reuse_begin(&reuse, at_ns, 0);
 *     prefix_reuse_block(&reuse, id, tokens); …           // the blocks of this prompt
 *     prefix_reuse_reckon(&reuse);                        // after all prompts: the figures
 *     prefix_reuse_release(&reuse);
 */
#ifndef PREP_REUSE_H
#define PREP_REUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A set of numbers that remembers one with each. */
struct seen {
	uint64_t *keys; /* 0: free */
	uint32_t *values;
	size_t count, cap;
};

struct prefix_reuse {
	struct prefix_reuse_prompt *prompts;
	size_t count, cap;
	struct prefix_reuse_block *blocks;
	size_t block_count, block_cap;
	struct seen ids;
	uint64_t chain; /* of all blocks of the prompt so far */
	bool failed;
	/* the figures */
	int64_t again;         /* blocks whose id was there in a prompt before */
	int64_t leading;       /* blocks within a leading run that was there before */
	int64_t most;          /* blocks of a prompt at most */
	int64_t tokens, found; /* of all prompts, and what the cache finds of them */
};

/* A prompt begins. `inherited` tokens of it are the turn's before, prompt and answer: found anyway. */
void prefix_reuse_begin(struct prefix_reuse *r, int64_t at_ns, int64_t inherited);
/* The next block. After a prompt that inherits, blocks go on where the prompt before it ended. */
void prefix_reuse_block(struct prefix_reuse *r, uint64_t id, int64_t tokens);
/* Tokens of this prompt that are in no block: nothing finds them. */
void prefix_reuse_rest(struct prefix_reuse *r, int64_t tokens);
/* A block that was answered: the next prompt, which inherits it, has it before its own. */
void prefix_reuse_pass(struct prefix_reuse *r, uint64_t id, int64_t tokens);
void prefix_reuse_reckon(struct prefix_reuse *r);
/* Tokens, and what the cache finds of them, of the prompts from number `from` to before `to`, in the order of arrival;
 * after reckoning. */
void prefix_reuse_span(const struct prefix_reuse *r, size_t from, size_t to, int64_t *tokens, int64_t *found);
void prefix_reuse_release(struct prefix_reuse *r);

#endif
