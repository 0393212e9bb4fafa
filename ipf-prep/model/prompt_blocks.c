#include "model/prompt_blocks.h"

#include "absent.h"
#include "array.h"
#include "stats/lru_curve.h"
#include "stream/trace_blocks.h"
#include "token_count.h"

#include <math.h>
#include <stdlib.h>

/* ---- reading ---- */

static void note_hash(struct prompt_chain *chain)
{
	struct prompt_blocks *b = (struct prompt_blocks *)chain;
	if (!array_room(b->hashes, b->hash_cap, b->hash_count + 1)) {
		b->failed = true;
		return;
	}
	b->hashes[b->hash_count++] = chain->hash;
}

static bool has_text(const struct trace_request *r)
{
	return trace_prompt(r).data;
}

/* The blocks of a text are those of the whole prompt, with the turns before it. */
static int add_text(struct prompt_blocks *b, const struct trace_request *r, struct ipf_error *err)
{
	b->texts = true;
	if (!r->context_session || r->turn == 0 || r->turn == IPF_ABSENT) {
		b->chain.block = note_hash;
		b->hash_count = 0;
		prompt_chain_begin(&b->chain, r->model);
	}
	if (prompt_chain_add(&b->chain, r, &b->scratch, err) < 0)
		return -1;
	prefix_reuse_begin(&b->reuse, r->at_ns, 0);
	for (size_t i = 0; i < b->hash_count; i++)
		prefix_reuse_add_block(&b->reuse, b->hashes[i], PROMPT_BLOCK);
	prefix_reuse_add_rest(&b->reuse, b->chain.tokens % PROMPT_BLOCK);
	if (!r->context_session)
		return 0;
	if (trace_answer(r).data)
		return prompt_chain_answer(&b->chain, trace_answer(r), &b->scratch, err);
	if (r->output_tokens > 0 && r->output_tokens < PROMPT_ANSWER_MOST)
		prompt_chain_generated(&b->chain, (int64_t)b->reuse.count, r->output_tokens);
	return 0;
}

static void note_place(struct prompt_blocks *b, int64_t session, int64_t turn)
{
	if (!array_room(b->places, b->places_cap, b->reuse.count)) {
		b->failed = true;
		return;
	}
	if (!b->reuse.failed)
		b->places[b->reuse.count - 1] = (struct prompt_place){session, turn};
}

int prompt_blocks_add(struct prompt_blocks *b, const struct trace_request *r, int64_t session, struct ipf_error *err)
{
	b->full |= b->reuse.block_count > PROMPT_BLOCKS_MOST;
	if (b->full || (!r->blocks.data && !has_text(r))) {
		b->without_blocks = token_sum(b->without_blocks, b->full ? 0 : r->input_tokens);
		return 0;
	}
	if (r->blocks.data ? trace_blocks_add(&b->reuse, r, &b->doc, err) < 0 : add_text(b, r, err) < 0)
		return -1;
	note_place(b, session, r->turn == IPF_ABSENT ? 0 : r->turn);
	return b->failed || b->reuse.failed || b->scratch.text.failed ? ipf_error_memory(err) : 0;
}

/* ---- hits ---- */

/* The size of blocks if it is the same for all but the last ones of prompts; else PROMPT_BLOCK, into which blocks are
 * then divided. */
static int64_t size_of_blocks(const struct prefix_reuse *r)
{
	int64_t size = 0;
	for (size_t i = 0; i < r->count; i++) {
		struct prefix_reuse_view v = prefix_reuse_prompt(r, i);
		for (size_t k = 0; k < v.block_count; k++)
			size = v.blocks[k].tokens > size ? v.blocks[k].tokens : size;
	}
	for (size_t i = 0; i < r->count; i++) {
		struct prefix_reuse_view v = prefix_reuse_prompt(r, i);
		for (size_t k = 0; k + 1 < v.block_count; k++)
			if (v.blocks[k].tokens != size)
				return size < PROMPT_BLOCK ? size : PROMPT_BLOCK;
	}
	return size;
}

/* The nodes of a prompt in the tree. */
struct path {
	uint32_t *nodes;
	size_t count, cap;
	size_t hits; /* its nodes', those an unlimited cache finds */
};

static int find_path(struct path *p, struct prefix_tree *tree, const struct prefix_reuse_view *v, int64_t block_tokens)
{
	uint32_t node = PREFIX_ROOT;
	int64_t so_far = 0;
	p->count = p->hits = 0;
	for (size_t i = 0; i < v->block_count; i++)
		for (int64_t done = 0, piece; done < v->blocks[i].tokens; done += piece) {
			piece = v->blocks[i].tokens - done < block_tokens ? v->blocks[i].tokens - done : block_tokens;
			so_far += piece;
			if (so_far > UINT32_MAX)
				return 0;
			if (!array_room(p->nodes, p->cap, p->count + 1))
				return -1;
			node = prefix_tree_add(tree, node, v->blocks[i].chain + (uint64_t)done * UINT64_C(0x9e3779b97f4a7c15),
			                       (uint32_t)so_far);
			p->nodes[p->count++] = node;
			p->hits += so_far <= v->hit_tokens;
		}
	return tree->failed ? -1 : 0;
}

/* How long ago the end of the match was used, and by whom. */
static struct prompt_use use_of(const struct prompt_blocks *b, const struct lru_curve *curve, const struct path *path,
                                const struct prefix_reuse_view *v)
{
	struct prompt_use use = {
		.tokens = v->tokens, .hit_tokens = v->hit_tokens, .turn = b->places[v->index].turn, .age = 0};
	uint32_t last = path->hits ? curve->last[path->nodes[path->hits - 1]] : 0;
	if (last == 0)
		return use;
	struct prefix_reuse_view user = prefix_reuse_prompt(&b->reuse, last - 1);
	int64_t session = b->places[v->index].session;
	use.age = curve->now + 1 - last;
	use.user_tokens = user.tokens;
	use.own_session = session && b->places[user.index].session == session;
	if (use.own_session && use.turn > b->places[user.index].turn)
		use.age = use.turn - b->places[user.index].turn;
	return use;
}

static void find_caches(struct prompt_blocks *b, const struct lru_curve *curve, double tokens)
{
	double all = (double)b->reuse.hit_tokens;
	b->cache_count = 0;
	for (int k = 0; k < PROMPT_CACHES; k++) {
		double hits = (double)lru_curve_hits(curve, 4 * k);
		int64_t size = lru_size(4 * k) * b->block_tokens;
		if (size > TOKENS_MAX)
			return;
		b->caches[b->cache_count++] = (struct prompt_cache){size, hits / tokens};
		if (hits >= all)
			return;
	}
}

static int use_caches(struct prompt_blocks *b, struct prefix_tree *tree, struct path *path,
                      void (*note)(void *, const struct prompt_use *), void *data)
{
	struct lru_curve curve = {0};
	const struct prefix_reuse *r = &b->reuse;
	for (size_t i = 0; i < r->count; i++) {
		struct prefix_reuse_view v = prefix_reuse_prompt(r, i);
		if (find_path(path, tree, &v, b->block_tokens) < 0)
			return -1;
	}
	int status = lru_curve_init(&curve, tree, (int64_t)r->count, 0);
	for (size_t i = 0; status == 0 && i < r->count; i++) {
		struct prefix_reuse_view v = prefix_reuse_prompt(r, i);
		find_path(path, tree, &v, b->block_tokens);
		struct prompt_use use = use_of(b, &curve, path, &v);
		if (note)
			note(data, &use);
		lru_curve_use(&curve, path->nodes, path->count, path->hits, (v.rest + b->block_tokens - 1) / b->block_tokens);
	}
	if (status == 0)
		find_caches(b, &curve, (double)r->tokens + (double)b->without_blocks);
	for (uint32_t i = 1; i < tree->count; i++)
		b->distinct_tokens += tree->nodes[i].tokens - tree->nodes[tree->nodes[i].parent].tokens;
	lru_curve_release(&curve);
	return status;
}

int prompt_blocks_end(struct prompt_blocks *b, void (*note)(void *, const struct prompt_use *), void *data,
                      struct ipf_error *err)
{
	struct prefix_tree tree = {0};
	struct path path = {0};
	int status = 0;
	b->hit_rate = NAN;
	prefix_reuse_compute(&b->reuse);
	b->prompts = (int64_t)b->reuse.count;
	if (b->reuse.block_count && b->reuse.tokens > 0 && b->without_blocks != IPF_ABSENT) {
		b->block_tokens = size_of_blocks(&b->reuse);
		b->hit_rate = (double)b->reuse.hit_tokens / ((double)b->reuse.tokens + (double)b->without_blocks);
		status = use_caches(b, &tree, &path, note, data);
	}
	prefix_tree_release(&tree);
	free(path.nodes);
	return status < 0 || b->reuse.failed ? ipf_error_memory(err) : 0;
}

void prompt_blocks_release(struct prompt_blocks *b)
{
	prompt_scratch_release(&b->scratch);
	jdoc_release(&b->doc);
	prefix_reuse_release(&b->reuse);
	free(b->places);
	free(b->hashes);
	*b = (struct prompt_blocks){.failed = false};
}
