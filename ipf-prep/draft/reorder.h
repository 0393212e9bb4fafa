/* Puts drafts in order: the requests of a session together, sessions by their first arrival.
 *
 *     struct reorder h = {0};
 *     reorder_add(&h, &draft, &err); …
 *     reorder_sort(&h, &err);
 *     while ((got = reorder_next(&h, &unit, &draft, &err)) > 0) …
 *     reorder_release(&h);
 *
 * A unit is selected as a whole: a single request, a conversation, or the requests of one session. Memory is bounded
 * (sort/record_sorter.h); so are the errors.
 */
#ifndef PREP_REORDER_H
#define PREP_REORDER_H

#include "draft/draft.h"
#include "sort/record_sorter.h"

/* The state of a unit when its first draft comes. */
struct unit {
	uint64_t drafts;  /* in the unit, one after another */
	int64_t requests; /* its number of requests */
};

/* Zero-initialise. */
struct reorder {
	struct record_sorter members;  /* drafts of sessions, by session */
	struct record_sorter sessions; /* each one's state, in the same order */
	struct record_sorter sorted;   /* all drafts */
	struct buffer key, record, session;
	int64_t drafts;   /* added */
	int64_t first_ns; /* the first arrival of a draft */
	int64_t shift_ns; /* subtracted from all arrivals; set it before reading */
	int64_t group;    /* the last draft's, and its requests so far */
	int64_t turn;
};

/* Adds a copy of the draft. */
int reorder_add(struct reorder *h, const struct draft *d, struct ipf_error *err);
/* Sorts units by their first arrival; those without arrivals come last, as they were added. Within a session, requests
 * are sorted by arrival if all of them have one, else they stay as they were added. If the first arrival is negative,
 * all are shifted to make it 0. */
int reorder_sort(struct reorder *h, struct ipf_error *err);
/* The next draft and its unit: 1, 0 at the end, -1. The draft borrows texts valid until the next call. */
int reorder_next(struct reorder *h, struct unit *unit, struct draft *d, struct ipf_error *err);
void reorder_release(struct reorder *h);

#endif
