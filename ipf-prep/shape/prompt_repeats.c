#include "shape/prompt_repeats.h"

#include "hash_index.h"

#include <stdlib.h>

#define REMEMBERED_MAX ((size_t)3 << 20) /* different prompts: 64 MiB */

struct prompt_count {
	uint64_t key; /* 0: an empty slot */
	int64_t count;
};

void prompt_repeats_add(struct prompt_repeats *r, uint64_t key)
{
	key = hash_index_key(key);
	r->prompts++;
	bool room = r->count < REMEMBERED_MAX && hash_index_room(r->slots, r->cap, r->count + 1);
	struct prompt_count *slot = r->slots ? hash_index_find(r->slots, r->cap, key) : NULL;
	if (!slot || (!slot->key && !room)) {
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
