#include "sources/prompt_pieces.h"

#include "array.h"
#include "text_hash.h"

#include <stdlib.h>
#include <string.h>

void prompt_pieces_add(struct prompt_pieces *p, uint64_t id, int64_t size)
{
	if (size <= 0)
		return;
	if (p->count == p->cap) {
		size_t cap = p->cap ? p->cap * 2 : 32;
		uint64_t *ids = reallocarray(p->ids, cap, sizeof *ids);
		if (ids)
			p->ids = ids;
		int64_t *sizes = reallocarray(p->sizes, cap, 2 * sizeof *sizes);
		if (sizes)
			p->sizes = sizes;
		if (!ids || !sizes) {
			p->failed = true;
			return;
		}
		p->cap = cap;
	}
	p->ids[p->count] = id;
	p->sizes[2 * p->count] = p->sizes[2 * p->count + 1] = size;
	p->count++;
	p->tokens += size;
}

void prompt_pieces_truncate(struct prompt_pieces *p, int64_t tokens)
{
	while (p->count > 0 && p->tokens > tokens) {
		int64_t *used = &p->sizes[2 * p->count - 1], over = p->tokens - tokens;
		if (over < *used) {
			*used -= over;
			p->tokens = tokens;
		} else {
			p->tokens -= *used;
			p->count--;
		}
	}
}

void prompt_pieces_to_blocks(const struct prompt_pieces *p, struct draft *d, struct draft_blocks *blocks)
{
	uint64_t *ids = draft_ids(d, p->count), *sizes = draft_ids(d, 2 * p->count);
	d->failed |= p->failed;
	if (!ids || !sizes || p->count == 0)
		return;
	memcpy(ids, p->ids, p->count * sizeof *ids);
	memcpy(sizes, p->sizes, 2 * p->count * sizeof *sizes);
	*blocks = (struct draft_blocks){.ids = ids, .count = p->count, .sizes = (const int64_t *)sizes};
}

struct draft_request *prompt_pieces_turn(struct prompt_pieces *p, struct draft *d, int64_t answer, int64_t added)
{
	struct draft_request *r = draft_request(d);
	uint64_t turn = d->count;
	if (!r)
		return NULL;
	r->input_tokens = p->tokens;
	r->output_tokens = answer;
	prompt_pieces_to_blocks(p, d, &r->blocks);
	prompt_pieces_add(p, prompt_piece_id(d->session, 2 * turn - 1), answer);
	prompt_pieces_add(p, prompt_piece_id(d->session, 2 * turn), added);
	d->failed |= p->failed;
	return d->failed ? NULL : r;
}

void prompt_pieces_release(struct prompt_pieces *p)
{
	free(p->ids);
	free(p->sizes);
	*p = (struct prompt_pieces){0};
}

uint64_t prompt_piece_id(struct slice name, uint64_t number)
{
	uint64_t h = text_hash(name);
	h = (h ^ h >> 32) + (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
	h = (h ^ h >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	h = (h ^ h >> 27) * UINT64_C(0x94d049bb133111eb);
	return h ^ h >> 31;
}
