#include "sources/kept_drafts.h"

#include <stdlib.h>

struct kept_draft *kept_drafts_add(struct kept_drafts *kept, const struct draft *d)
{
	if (kept->count == kept->cap) {
		size_t cap = kept->cap ? kept->cap * 2 : 256;
		struct kept_draft *items = reallocarray(kept->items, cap, sizeof *items);
		if (!items)
			return NULL;
		kept->items = items;
		kept->cap = cap;
	}
	struct draft *copy = draft_clone(d);
	if (!copy)
		return NULL;
	struct kept_draft *added = &kept->items[kept->count];
	*added = (struct kept_draft){.draft = copy, .index = kept->count++};
	return added;
}

static int by_index(const void *a, const void *b)
{
	const struct kept_draft *x = a, *y = b;
	return x->index < y->index ? -1 : x->index > y->index;
}

void kept_drafts_in_order(struct kept_drafts *kept)
{
	if (kept->count > 0)
		qsort(kept->items, kept->count, sizeof *kept->items, by_index);
}

void kept_drafts_release(struct kept_drafts *kept)
{
	for (size_t i = 0; i < kept->count; i++) {
		free(kept->items[i].draft);
		free(kept->items[i].key);
	}
	free(kept->items);
	*kept = (struct kept_drafts){0};
}
