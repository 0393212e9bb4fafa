/* Copies of drafts that a format keeps until it has read all files, because a request depends on other records. */
#ifndef PREP_KEPT_DRAFTS_H
#define PREP_KEPT_DRAFTS_H

#include "draft/draft.h"

struct kept_draft {
	struct draft *draft;
	size_t index; /* in the order of adding, from 0 */
	/* for the format's use; 0 and NULL at first */
	int64_t start_ns, end_ns, most_tokens;
	char *key; /* freed with the draft */
};

struct kept_drafts {
	struct kept_draft *items;
	size_t count, cap;
};

/* Adds a copy of the draft. It is valid until the next one is added; NULL when out of memory. */
struct kept_draft *kept_drafts_add(struct kept_drafts *kept, const struct draft *d);
/* Sorts them by `index`, the order in which they were added. */
void kept_drafts_in_order(struct kept_drafts *kept);
void kept_drafts_release(struct kept_drafts *kept);

#endif
