/* Drafts in memory: those of a session brought together, sessions in the order of their first arrival.
 *
 * A unit is what is kept or left out as a whole: a lone request, a conversation, or the requests of one session.
 */
#ifndef PREP_HOLD_H
#define PREP_HOLD_H

#include "draft.h"

struct unit {
	struct draft **drafts;
	size_t count;
};

struct hold {
	struct held *items;
	size_t count, cap;
	uint32_t *slots;      /* sessions by the hash of their names: an item's place + 1 */
	size_t slot_count, sessions;
	struct unit *units;   /* after hold_order */
	size_t unit_count;
	struct draft **drafts;
};

/* Takes a copy of the draft: 0, -1 when memory runs out. */
int hold_add(struct hold *h, const struct draft *d);
/* Puts another draft in place of the one at `index` (as numbered by hold_add). */
int hold_replace(struct hold *h, size_t index, const struct draft *d);
/* Makes the units. Sessions come in the order of their first arrival (of their first record where arrivals are not known);
 * within one, its requests by arrival where all of them have one, else as they came. Arrivals are moved so that none is
 * negative. 0, -1 when memory runs out. */
int hold_order(struct hold *h);
/* Those that are held, as they came (before hold_order). After their arrivals were changed, hold_retime. */
size_t hold_count(const struct hold *h);
struct draft *hold_draft(const struct hold *h, size_t index);
void hold_retime(struct hold *h);
void hold_release(struct hold *h);

#endif
