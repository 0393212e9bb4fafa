/* Drafts held in memory and put in order: the requests of a session together, sessions by their first arrival.
 *
 *     struct reorder h = {0};
 *     reorder_add(&h, &draft); …
 *     reorder_sort(&h);
 *     for (size_t i = 0; i < h.group_count; i++) … h.groups[i] …
 *     reorder_release(&h);
 *
 * A group is what is selected as a whole: a single request, a conversation, or the requests of one session.
 */
#ifndef PREP_REORDER_H
#define PREP_REORDER_H

#include "draft/draft.h"

struct draft_group {
	struct draft **drafts;
	size_t count;
};

struct reorder {
	struct held_draft *items;
	size_t count, cap;
	uint32_t *slots; /* hash table of sessions by name: index of the first item, plus 1 */
	size_t slot_count, sessions;
	struct draft_group *groups; /* after reorder_sort */
	size_t group_count;
	struct draft **drafts;
};

/* Adds a copy of the draft: 0, or -1 when out of memory. */
int reorder_add(struct reorder *h, const struct draft *d);
/* Replaces the draft that was the `index`th to be added, from 0: 0, or -1 when out of memory. */
int reorder_replace(struct reorder *h, size_t index, const struct draft *d);
/* The drafts in the order in which they were added; only before reorder_sort. */
size_t reorder_count(const struct reorder *h);
struct draft *reorder_draft(const struct reorder *h, size_t index);
/* Call it after changing arrivals of drafts. */
void reorder_update_times(struct reorder *h);
/* Makes the groups. They are sorted by their first arrival; those without arrivals come last, as they were added.
 * Within a session, requests are sorted by arrival if all of them have one, else they stay as they were added. If the
 * first arrival is negative, all are shifted so that it is 0. 0, or -1 when out of memory. */
int reorder_sort(struct reorder *h);
void reorder_release(struct reorder *h);

#endif
