/* The text of prompts of which only the length is known, and perhaps which blocks they share with others. */
#include "shape/render_private.h"

#include "text/synthetic_text.h"

#include <stdlib.h>

/* The key of a request's own text behind its last block. */
static uint64_t own_key(const struct draft *d, size_t turn)
{
	uint64_t numbers[] = {(uint64_t)d->number, (uint64_t)d->part, (uint64_t)d->copy, turn};
	struct draft_blocks own = {.ids = numbers, .count = 4, .scope = slice_of("own text")};
	uint64_t key = 0;
	for (size_t i = 0; i < 4; i++)
		key = key * UINT64_C(0x9e3779b97f4a7c15) + draft_block_id(&own, i);
	return key;
}

/* Do the ids of a format's blocks stand for all that is before them too? Then they have siblings. */
static bool has_kin(const struct renderer *r, const struct draft_request *request)
{
	return (r->plan->traits & HAS_BLOCKS) && !request->blocks.sizes && request->count == 0;
}

static struct exact_text_start start_of(struct renderer *r, const struct draft_request *request, uint64_t parent,
                                        uint64_t key)
{
	if (!has_kin(r, request))
		return (struct exact_text_start){0};
	return (struct exact_text_start){
		.apart = true, .parent = parent, .place = prefix_siblings_place(&r->kin, parent, key)};
}

void renderer_meet(struct renderer *r, const struct draft *d)
{
	if (!token_counter_is_exact(r->plan->tokens))
		return;
	for (size_t turn = 0; turn < d->count; turn++) {
		const struct draft_request *request = &d->requests[turn];
		uint64_t parent = PREFIX_SIBLINGS_ROOT;
		int64_t left = request->input_tokens;
		for (size_t i = 0; has_kin(r, request) && i < request->blocks.count; i++) {
			uint64_t key = draft_block_id(&request->blocks, i);
			prefix_siblings_place(&r->kin, parent, key);
			left -= draft_block_tokens(&request->blocks, i, left);
			parent = key;
		}
		if (has_kin(r, request) && left > 0)
			prefix_siblings_place(&r->kin, parent, own_key(d, turn));
	}
}

/* Notes that the text at hand has a whole block more; a note that is missing costs time alone. */
static void note_span(struct renderer *r, size_t i, uint64_t key)
{
	if (i == r->span_cap) {
		size_t cap = r->span_cap ? r->span_cap * 2 : 64;
		struct span *spans = reallocarray(r->spans, cap, sizeof *spans);
		if (!spans)
			return;
		r->spans = spans;
		r->span_cap = cap;
	}
	if (i == r->span_count)
		r->spans[r->span_count++] = (struct span){key, r->made.len};
}

/* How many blocks of the prompt before stand at the beginning of this one too: their text stays. */
static size_t keep_spans(struct renderer *r, const struct draft_blocks *blocks, int64_t count)
{
	size_t same = 0;
	while (!blocks->sizes && same < r->span_count && same < blocks->count &&
	       (int64_t)(same + 1) * blocks->tokens <= count && draft_block_id(blocks, same) == r->spans[same].key)
		same++;
	r->span_count = same;
	r->made.len = same ? r->spans[same - 1].end : 0;
	return same;
}

/* Text of exactly `count` tokens of the model's tokenizer. */
static struct slice make_exact_text(struct renderer *r, const struct draft *d, size_t turn,
                                    const struct draft_request *request, int64_t count)
{
	const char *salt = r->plan->options->salt;
	char name[512];
	struct rng rng = renderer_chance(r, synthetic_text_name("prompt", salt, name), d, turn);
	struct draft_blocks of_copy = renderer_blocks(r, d, request);
	const struct draft_blocks *blocks = &of_copy;
	int64_t left = count;
	uint64_t parent = PREFIX_SIBLINGS_ROOT;
	struct exact_text_start start;
	size_t same = keep_spans(r, blocks, count);
	for (size_t i = 0; i < blocks->count && left > 0; i++) {
		int64_t wanted = draft_block_tokens(blocks, i, left),
				whole = blocks->sizes ? blocks->sizes[2 * i] : blocks->tokens;
		uint64_t key = draft_block_id(blocks, i);
		start = start_of(r, request, parent, key);
		if (i >= same && wanted > 0)
			exact_text_block(&r->exact, key, &start, whole, wanted, &r->made);
		if (i >= same && wanted == whole && !blocks->sizes)
			note_span(r, i, key);
		left -= wanted;
		parent = key;
	}
	start = left > 0 ? start_of(r, request, parent, own_key(d, turn)) : (struct exact_text_start){0};
	if (left > 0)
		exact_text_prose(&r->exact, &rng, &start, left, &r->made);
	size_t len = r->made.len;
	selection_counts_residual(r->tally, count, exact_text_fit(&r->exact, &rng, count, &r->made));
	if (r->made.len != len)
		r->span_count = 0; /* it is not what the blocks make */
	r->work.failed |= r->exact.failed || r->kin.failed;
	return buffer_all(&r->made);
}

/* Text of exactly `count` tokens, for a prompt of which only the length is known. The approximation counts four bytes
 * of ASCII as a token. */
struct slice renderer_text(struct renderer *r, const struct draft *d, size_t turn, const struct draft_request *request,
                           int64_t count)
{
	const char *salt = r->plan->options->salt;
	char name[512];
	struct draft_blocks of_copy = renderer_blocks(r, d, request);
	const struct draft_blocks *blocks = &of_copy;
	int64_t left = count;
	if (token_counter_is_exact(r->plan->tokens))
		return make_exact_text(r, d, turn, request, count);
	buffer_clear(&r->made);
	for (size_t i = 0; i < blocks->count && left > 0; i++) {
		int64_t tokens = draft_block_tokens(blocks, i, left),
				whole = blocks->sizes ? blocks->sizes[2 * i] : blocks->tokens;
		if (tokens > 0)
			synthetic_text_block(draft_block_id(blocks, i), (size_t)whole * 4, salt, (size_t)tokens * 4, &r->made);
		left -= tokens;
	}
	if (left > 0) {
		struct rng rng = renderer_chance(r, synthetic_text_name("prompt", salt, name), d, turn);
		synthetic_text_prose(&rng, (size_t)left * 4, &r->made);
	}
	return buffer_all(&r->made);
}
