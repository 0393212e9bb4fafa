#include "shape/prompt_repeats.h"

#include <stdlib.h>

#define REMEMBERED_MAX ((size_t)3 << 20) /* different prompts: 64 MiB */

struct prompt_count {
	uint64_t key; /* 0: an empty slot */
	int64_t count;
};

static struct prompt_count *slot_of(const struct prompt_repeats *r, uint64_t key)
{
	size_t at = (size_t)key & (r->cap - 1);
	while (r->slots[at].key && r->slots[at].key != key)
		at = (at + 1) & (r->cap - 1);
	return &r->slots[at];
}

static bool grow(struct prompt_repeats *r)
{
	struct prompt_repeats more = {.cap = r->cap ? r->cap * 2 : 1024};
	more.slots = calloc(more.cap, sizeof *more.slots);
	if (!more.slots)
		return false;
	for (size_t i = 0; i < r->cap; i++)
		if (r->slots[i].key)
			*slot_of(&more, r->slots[i].key) = r->slots[i];
	free(r->slots);
	r->slots = more.slots;
	r->cap = more.cap;
	return true;
}

void prompt_repeats_add(struct prompt_repeats *r, uint64_t key)
{
	key = key ? key : 1;
	r->prompts++;
	bool room = r->count < REMEMBERED_MAX && (r->count * 4 < r->cap * 3 || grow(r));
	if (!r->slots) {
		r->partly = true;
		return;
	}
	struct prompt_count *slot = slot_of(r, key);
	if (!slot->key && !room) {
		r->partly = true;
		return;
	}
	r->count += !slot->key;
	r->repeated += slot->key != 0;
	slot->key = key;
	slot->count++;
	r->most = slot->count > r->most ? slot->count : r->most;
}

void prompt_repeats_release(struct prompt_repeats *r)
{
	free(r->slots);
	*r = (struct prompt_repeats){0};
}
