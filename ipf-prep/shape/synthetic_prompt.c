#include "shape/synthetic_prompt.h"

#include "array.h"
#include "draft/draft_rng.h"
#include "text/synthetic_text.h"

#include <stdlib.h>

/* The key of a request's own text after its last block. */
static uint64_t own_key(const struct draft *d, size_t turn)
{
	uint64_t numbers[] = {(uint64_t)d->number, (uint64_t)d->part, (uint64_t)d->copy, turn};
	struct draft_blocks own = {.ids = numbers, .count = 4, .scope = slice_of("own text")};
	uint64_t key = 0;
	for (size_t i = 0; i < 4; i++)
		key = key * UINT64_C(0x9e3779b97f4a7c15) + draft_block_id(&own, i);
	return key;
}

/* Does the id of a block identify all blocks before it too? Then the block has siblings. */
static bool has_siblings(const struct synthetic_prompt *p, const struct draft_request *request)
{
	return (p->config->traits & HAS_BLOCKS) && !request->blocks.sizes && request->count == 0;
}

static struct exact_text_start start_of(struct synthetic_prompt *p, const struct draft_request *request,
                                        uint64_t parent, uint64_t key)
{
	if (!has_siblings(p, request))
		return (struct exact_text_start){0};
	return (struct exact_text_start){
		.apart = true, .parent = parent, .place = prefix_siblings_place(&p->siblings, parent, key)};
}

void synthetic_prompt_register(struct synthetic_prompt *p, const struct draft *d)
{
	if (!token_counter_is_exact(p->config->tokens))
		return;
	for (size_t turn = 0; turn < d->count; turn++) {
		const struct draft_request *request = &d->requests[turn];
		uint64_t parent = PREFIX_SIBLINGS_ROOT;
		int64_t left = request->input_tokens;
		if (!has_siblings(p, request))
			continue;
		for (size_t i = 0; i < request->blocks.count; i++) {
			uint64_t key = draft_block_id(&request->blocks, i);
			prefix_siblings_place(&p->siblings, parent, key);
			left -= draft_block_tokens(&request->blocks, i, left);
			parent = key;
		}
		if (left > 0)
			prefix_siblings_place(&p->siblings, parent, own_key(d, turn));
	}
}

/* Notes the end of a whole block in the text. Without memory for the note the block is only made again. */
static void note_span(struct synthetic_prompt *p, size_t i, uint64_t key)
{
	if (!array_room(p->spans, p->span_cap, i + 1))
		return;
	if (i == p->span_count)
		p->spans[p->span_count++] = (struct block_span){key, p->text.len};
}

/* Keeps the text of the leading blocks shared with the previous one: how many they are. */
static size_t keep_spans(struct synthetic_prompt *p, const struct draft_blocks *blocks, int64_t count)
{
	size_t same = 0;
	while (!blocks->sizes && same < p->span_count && same < blocks->count &&
	       (int64_t)(same + 1) * blocks->tokens <= count && draft_block_id(blocks, same) == p->spans[same].key)
		same++;
	p->span_count = same;
	p->text.len = same ? p->spans[same - 1].end : 0;
	return same;
}

static int64_t whole_block(const struct draft_blocks *blocks, size_t i)
{
	return blocks->sizes ? blocks->sizes[2 * i] : blocks->tokens;
}

/* By the model's tokenizer. */
static void make_exact(struct synthetic_prompt *p, const struct draft *d, size_t turn,
                       const struct draft_blocks *blocks, int64_t count)
{
	const struct draft_request *request = &d->requests[turn];
	char name[512];
	struct rng rng = draft_rng(p->config->common.seed, synthetic_text_name("prompt", p->config->salt, name), d, turn);
	int64_t left = count;
	uint64_t parent = PREFIX_SIBLINGS_ROOT;
	struct exact_text_start start;
	size_t same = keep_spans(p, blocks, count);
	for (size_t i = 0; i < blocks->count && left > 0; i++) {
		int64_t wanted = draft_block_tokens(blocks, i, left), whole = whole_block(blocks, i);
		uint64_t key = draft_block_id(blocks, i);
		start = start_of(p, request, parent, key);
		if (i >= same && wanted > 0)
			exact_text_block(p->exact, key, &start, whole, wanted, &p->text);
		if (i >= same && wanted == whole && !blocks->sizes)
			note_span(p, i, key);
		left -= wanted;
		parent = key;
	}
	if (left > 0) {
		start = start_of(p, request, parent, own_key(d, turn));
		exact_text_prose(p->exact, &rng, &start, left, &p->text);
	}
	size_t len = p->text.len;
	selection_counts_residual(p->counts, count, exact_text_fit(p->exact, &rng, count, &p->text));
	if (p->text.len != len)
		p->span_count = 0; /* the end of the last block has changed */
}

/* Four bytes a token. */
static void make_approximate(struct synthetic_prompt *p, const struct draft *d, size_t turn,
                             const struct draft_blocks *blocks, int64_t count)
{
	const char *salt = p->config->salt;
	char name[512];
	int64_t left = count;
	buffer_clear(&p->text);
	for (size_t i = 0; i < blocks->count && left > 0; i++) {
		int64_t tokens = draft_block_tokens(blocks, i, left), whole = whole_block(blocks, i);
		if (tokens > 0)
			synthetic_text_block(draft_block_id(blocks, i), (size_t)whole * 4, salt, (size_t)tokens * 4, &p->text);
		left -= tokens;
	}
	if (left > 0) {
		struct rng rng = draft_rng(p->config->common.seed, synthetic_text_name("prompt", salt, name), d, turn);
		synthetic_text_prose(&rng, (size_t)left * 4, &p->text);
	}
}

struct slice synthetic_prompt_make(struct synthetic_prompt *p, const struct draft *d, size_t turn,
                                   const struct draft_blocks *blocks, int64_t count)
{
	(token_counter_is_exact(p->config->tokens) ? make_exact : make_approximate)(p, d, turn, blocks, count);
	p->failed |= p->text.failed || p->exact->failed || p->siblings.failed;
	return buffer_all(&p->text);
}

struct slice synthetic_answer_make(struct synthetic_prompt *p, const struct draft *d, size_t turn)
{
	char name[512];
	int64_t count = d->requests[turn].output_tokens;
	struct rng rng = draft_rng(p->config->common.seed, synthetic_text_name("answer", p->config->salt, name), d, turn);
	buffer_clear(&p->answer);
	if (token_counter_is_exact(p->config->tokens)) {
		exact_text_prose(p->exact, &rng, NULL, count, &p->answer);
		exact_text_fit(p->exact, &rng, count, &p->answer);
	} else {
		synthetic_text_prose(&rng, (size_t)count * 4, &p->answer);
	}
	p->failed |= p->answer.failed || p->exact->failed;
	return buffer_all(&p->answer);
}

void synthetic_prompt_release(struct synthetic_prompt *p)
{
	buffer_release(&p->answer);
	prefix_siblings_release(&p->siblings);
	buffer_release(&p->text);
	free(p->spans);
}
