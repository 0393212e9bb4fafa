/* Common beginnings of prompts: the share of repeated blocks, and the hits of a prefix cache without a size limit.
 *
 * A prompt is a sequence of blocks, each with an id and a length. A prefix cache finds the leading blocks of a prompt
 * beginning an earlier prompt in the same order. "Earlier" is by arrival if all requests have one.
 *
 *     struct prefix_reuse reuse = {0};
 *     prefix_reuse_begin(&reuse, at_ns, 0);               // for each prompt …
 *     prefix_reuse_add_block(&reuse, id, tokens);         // … and for each of its blocks
 *     prefix_reuse_compute(&reuse);                       // after all prompts
 *     double hit_rate = (double)reuse.hit_tokens / (double)reuse.tokens;
 *     prefix_reuse_release(&reuse);
 *
 * Lengths may be in any unit, such as tokens or bytes of text, if it is the same for all.
 */
#ifndef IPF_PREFIX_REUSE_H
#define IPF_PREFIX_REUSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A hash table from a key to the number of the prompt in which it occurs first. */
struct seen_keys {
	struct first_seen *slots; /* hash_index.h */
	size_t count, room;
};

struct prefix_reuse {
	struct prefix_reuse_prompt *prompts;
	size_t count, cap;
	struct prefix_reuse_block *blocks;
	size_t block_count, block_cap;
	struct seen_keys ids;
	uint64_t chain;          /* hash of all blocks of the prompt so far */
	bool failed;             /* memory ran out */
	int64_t repeated_blocks; /* blocks whose id occurs in an earlier prompt */
	/* set by prefix_reuse_compute */
	int64_t leading_blocks; /* blocks of a beginning an earlier prompt has too */
	int64_t max_blocks;     /* in a prompt */
	int64_t tokens;         /* all prompts together; IPF_ABSENT, as all sums here: more than can be counted */
	int64_t hit_tokens;     /* the part of them found in the cache */
};

/* Begins a prompt. `inherited` tokens of it are the prompt and the answer of the previous turn, which always hit.
 * `at_ns` may be IPF_ABSENT. */
void prefix_reuse_begin(struct prefix_reuse *r, int64_t at_ns, int64_t inherited);
/* Adds a block. In a prompt that inherits, the blocks continue those of the previous prompt. */
void prefix_reuse_add_block(struct prefix_reuse *r, uint64_t id, int64_t tokens);
/* Adds tokens in no block and therefore never hit. */
void prefix_reuse_add_rest(struct prefix_reuse *r, int64_t tokens);
/* Adds a block of the answer. The next prompt, which inherits it, has it before its own blocks. */
void prefix_reuse_add_answer(struct prefix_reuse *r, uint64_t id, int64_t tokens);
void prefix_reuse_compute(struct prefix_reuse *r);
/* The tokens and the hit tokens of the prompts from index `from` to before `to`, in the order of arrival. Only after
 * prefix_reuse_compute. */
void prefix_reuse_range(const struct prefix_reuse *r, size_t from, size_t to, int64_t *tokens, int64_t *hit_tokens);
/* A prompt in the order of arrival, i = 0 … count - 1. Only after prefix_reuse_compute. */
struct prefix_reuse_block {
	uint64_t chain; /* hash of this block and all before it */
	int64_t tokens;
};
struct prefix_reuse_view {
	size_t index; /* in the order in which prompts were begun */
	const struct prefix_reuse_block *blocks;
	size_t block_count;
	int64_t rest; /* tokens in no block */
	int64_t tokens, hit_tokens;
};
struct prefix_reuse_view prefix_reuse_prompt(const struct prefix_reuse *r, size_t i);
void prefix_reuse_release(struct prefix_reuse *r);

#endif
