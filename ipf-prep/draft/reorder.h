/* Drafts in memory: those of a session brought together, sessions in the order of their first arrival.
 *
 * A unit is what is kept or left out as a whole: a lone request, a conversation, or the requests of one session.
 */
#ifndef PREP_HOLD_H
#define PREP_HOLD_H

#include "draft/draft.h"

struct draft_group {
	struct draft **drafts;
	size_t count;
};

struct reorder {
	struct held *items;
	size_t count, cap;
	uint32_t *slots; /* sessions by the hash of their names: an item's place + 1 */
	size_t slot_count, sessions;
	struct draft_group *groups; /* after reorder_sort */
	size_t group_count;
	struct draft **drafts;
};

/* Takes a copy of the draft: 0, -1 when memory runs out. */
int reorder_add(struct reorder *h, const struct draft *d);
/* Puts another draft in place of the one at `index` (as numbered by reorder_add). */
int reorder_replace(struct reorder *h, size_t index, const struct draft *d);
/* Makes the units. Sessions come in the order of their first arrival (of their first record where arrivals are not
 * known); within one, its requests by arrival where all of them have one, else as they came. Arrivals are moved so that
 * none is negative. 0, -1 when memory runs out. */
int reorder_sort(struct reorder *h);
/* Those that are held, as they came (before reorder_sort). After their arrivals were changed, reorder_update_times. */
size_t reorder_count(const struct reorder *h);
struct draft *reorder_draft(const struct reorder *h, size_t index);
void reorder_update_times(struct reorder *h);
void reorder_release(struct reorder *h);

#endif
