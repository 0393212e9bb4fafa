#include "stats/prefix_reuse.h"

#include "absent.h"
#include "array.h"
#include "hash_index.h"
#include "token_count.h"

#include <stdlib.h>
#include <string.h>

struct prefix_reuse_prompt {
	int64_t at_ns, inherited;
	size_t first, count, index;
	int64_t rest;               /* tokens in no block */
	int64_t tokens, hit_tokens; /* set by prefix_reuse_compute */
};

struct first_seen {
	uint64_t key;
	uint32_t prompt;
};

/* The prompt in which the key occurred first; NULL if it is new. */
static const uint32_t *first_seen_add(struct seen_keys *s, uint64_t key, uint32_t prompt, bool *failed)
{
	if (!hash_index_room(s->slots, s->room, s->count + 1)) {
		*failed = true;
		return NULL;
	}
	struct first_seen *slot = hash_index_find(s->slots, s->room, key);
	if (slot->key)
		return &slot->prompt;
	*slot = (struct first_seen){key, prompt};
	s->count++;
	return NULL;
}

void prefix_reuse_begin(struct prefix_reuse *r, int64_t at_ns, int64_t inherited)
{
	r->failed |= !array_room(r->prompts, r->cap, r->count + 1);
	if (r->failed)
		return;
	r->prompts[r->count] = (struct prefix_reuse_prompt){
		.at_ns = at_ns, .inherited = inherited, .first = r->block_count, .index = r->count};
	r->count++;
	if (!inherited)
		r->chain = 0;
}

/* A block cut is another block. */
void prefix_reuse_add_answer(struct prefix_reuse *r, uint64_t id, int64_t tokens)
{
	r->chain = hash_index_key(r->chain * 31 + hash_index_key(id + 1) + (uint64_t)tokens * UINT64_C(0x9e3779b97f4a7c15));
}

void prefix_reuse_add_block(struct prefix_reuse *r, uint64_t id, int64_t tokens)
{
	r->failed |= !array_room(r->blocks, r->block_cap, r->block_count + 1);
	if (r->failed)
		return;
	struct prefix_reuse_prompt *prompt = &r->prompts[r->count - 1];
	prefix_reuse_add_answer(r, id, tokens);
	r->blocks[r->block_count++] = (struct prefix_reuse_block){r->chain, tokens};
	prompt->count++;
	const uint32_t *first = first_seen_add(&r->ids, hash_index_key(id ^ UINT64_C(0x94d049bb133111eb)),
	                                       (uint32_t)r->count, &r->failed);
	r->repeated_blocks += first && *first != (uint32_t)r->count;
}

void prefix_reuse_add_rest(struct prefix_reuse *r, int64_t tokens)
{
	if (!r->failed)
		r->prompts[r->count - 1].rest += tokens;
}

static int by_arrival(const void *a, const void *b)
{
	const struct prefix_reuse_prompt *x = a, *y = b;
	if (x->at_ns != y->at_ns)
		return x->at_ns < y->at_ns ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

void prefix_reuse_compute(struct prefix_reuse *r)
{
	struct seen_keys chains = {0};
	bool timed = true;
	for (size_t i = 0; i < r->count; i++)
		timed &= r->prompts[i].at_ns != IPF_ABSENT;
	if (timed && r->count)
		qsort(r->prompts, r->count, sizeof *r->prompts, by_arrival);
	for (size_t i = 0; i < r->count && !r->failed; i++) {
		struct prefix_reuse_prompt *p = &r->prompts[i];
		bool leading = true;
		p->tokens = p->inherited + p->rest;
		p->hit_tokens = p->inherited;
		if ((int64_t)p->count > r->max_blocks)
			r->max_blocks = (int64_t)p->count;
		for (size_t k = 0; k < p->count; k++) {
			const struct prefix_reuse_block *b = &r->blocks[p->first + k];
			const uint32_t *first = first_seen_add(&chains, b->chain, (uint32_t)i, &r->failed);
			leading = leading && first && *first != (uint32_t)i;
			r->leading_blocks += leading;
			p->hit_tokens = token_sum(p->hit_tokens, leading ? b->tokens : 0);
			p->tokens = token_sum(p->tokens, b->tokens);
		}
		r->tokens = token_sum(r->tokens, p->tokens);
		r->hit_tokens = token_sum(r->hit_tokens, p->hit_tokens);
	}
	free(chains.slots);
}

void prefix_reuse_range(const struct prefix_reuse *r, size_t from, size_t to, int64_t *tokens, int64_t *hit_tokens)
{
	*tokens = *hit_tokens = 0;
	for (size_t i = from; i < to; i++) {
		*tokens = token_sum(*tokens, r->prompts[i].tokens);
		*hit_tokens = token_sum(*hit_tokens, r->prompts[i].hit_tokens);
	}
}

struct prefix_reuse_view prefix_reuse_prompt(const struct prefix_reuse *r, size_t i)
{
	const struct prefix_reuse_prompt *p = &r->prompts[i];
	return (struct prefix_reuse_view){.index = p->index,
	                                  .blocks = r->blocks + p->first,
	                                  .block_count = p->count,
	                                  .rest = p->rest,
	                                  .tokens = p->tokens,
	                                  .hit_tokens = p->hit_tokens};
}

void prefix_reuse_release(struct prefix_reuse *r)
{
	free(r->prompts);
	free(r->blocks);
	free(r->ids.slots);
	*r = (struct prefix_reuse){0};
}
