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

void kept_drafts_release(struct kept_drafts *kept)
{
	for (size_t i = 0; i < kept->count; i++)
		free(kept->items[i].draft);
	free(kept->items);
	*kept = (struct kept_drafts){0};
}
