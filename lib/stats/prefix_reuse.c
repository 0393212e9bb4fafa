#include "stats/prefix_reuse.h"

#include "absent.h"
#include "token_count.h"

#include <stdlib.h>
#include <string.h>

struct prefix_reuse_prompt {
	int64_t at_ns, inherited;
	size_t first, count, index;
	int64_t rest;               /* tokens that are in no block */
	int64_t tokens, hit_tokens; /* set by prefix_reuse_compute */
};

static uint64_t mix(uint64_t h)
{
	h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
	h = (h ^ h >> 32) * UINT64_C(0xd6e8feb86659fd93);
	h ^= h >> 32;
	return h ? h : 1;
}

static size_t place_of(const struct first_seen *s, uint64_t key)
{
	size_t at = (size_t)key & (s->cap - 1);
	while (s->keys[at] && s->keys[at] != key)
		at = (at + 1) & (s->cap - 1);
	return at;
}

static bool grow(struct first_seen *s)
{
	struct first_seen more = {.cap = s->cap ? s->cap * 2 : 4096, .count = s->count};
	more.keys = calloc(more.cap, sizeof *more.keys);
	more.prompts = calloc(more.cap, sizeof *more.prompts);
	if (!more.keys || !more.prompts) {
		free(more.keys);
		free(more.prompts);
		return false;
	}
	for (size_t i = 0; i < s->cap; i++)
		if (s->keys[i]) {
			size_t at = place_of(&more, s->keys[i]);
			more.keys[at] = s->keys[i];
			more.prompts[at] = s->prompts[i];
		}
	free(s->keys);
	free(s->prompts);
	*s = more;
	return true;
}

/* The prompt in which the key occurred first; NULL if it is new. */
static const uint32_t *first_seen_add(struct first_seen *s, uint64_t key, uint32_t prompt, bool *failed)
{
	if (s->count * 2 >= s->cap && !grow(s)) {
		*failed = true;
		return NULL;
	}
	size_t at = place_of(s, key);
	if (s->keys[at])
		return &s->prompts[at];
	s->keys[at] = key;
	s->prompts[at] = prompt;
	s->count++;
	return NULL;
}

static void *grow_array(void *array, size_t count, size_t *cap, size_t size, bool *failed)
{
	if (count < *cap)
		return array;
	size_t wanted = *cap ? *cap * 2 : 1024;
	void *moved = reallocarray(array, wanted, size);
	*failed |= !moved;
	if (moved)
		*cap = wanted;
	return moved ? moved : array;
}

void prefix_reuse_begin(struct prefix_reuse *r, int64_t at_ns, int64_t inherited)
{
	r->prompts = grow_array(r->prompts, r->count, &r->cap, sizeof *r->prompts, &r->failed);
	if (r->failed)
		return;
	r->prompts[r->count] = (struct prefix_reuse_prompt){
		.at_ns = at_ns, .inherited = inherited, .first = r->block_count, .index = r->count};
	r->count++;
	if (!inherited)
		r->chain = 0;
}

/* A block that was cut is another block. */
void prefix_reuse_add_answer(struct prefix_reuse *r, uint64_t id, int64_t tokens)
{
	r->chain = mix(r->chain * 31 + mix(id + 1) + (uint64_t)tokens * UINT64_C(0x9e3779b97f4a7c15));
}

void prefix_reuse_add_block(struct prefix_reuse *r, uint64_t id, int64_t tokens)
{
	r->blocks = grow_array(r->blocks, r->block_count, &r->block_cap, sizeof *r->blocks, &r->failed);
	if (r->failed)
		return;
	struct prefix_reuse_prompt *prompt = &r->prompts[r->count - 1];
	prefix_reuse_add_answer(r, id, tokens);
	r->blocks[r->block_count++] = (struct prefix_reuse_block){r->chain, tokens};
	prompt->count++;
	const uint32_t *first = first_seen_add(&r->ids, mix(id ^ UINT64_C(0x94d049bb133111eb)), (uint32_t)r->count,
	                                       &r->failed);
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
	struct first_seen chains = {0};
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
	free(chains.keys);
	free(chains.prompts);
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
	free(r->ids.keys);
	free(r->ids.prompts);
	*r = (struct prefix_reuse){0};
}
