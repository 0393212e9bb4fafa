/* Drafts with facts about them, in the order of their keys, however many there are (sort/record_sorter.h). Facts are a
 * struct of the caller.
 *
 *     struct draft_sorter sorter = {0};
 *     sort_key_text(&sorter.key, id);                              // sort_key.h; without a key, it is a queue
 *     draft_sorter_add(&sorter, &facts, sizeof facts, &draft, &err);
 *     draft_sorter_begin(&sorter, &err);
 *     while ((got = draft_sorter_next(&sorter, &facts, sizeof facts, &draft, &err)) > 0) …
 *     draft_sorter_release(&sorter);
 */
#ifndef PREP_DRAFT_SORTER_H
#define PREP_DRAFT_SORTER_H

#include "draft/draft.h"
#include "sort/record_sorter.h"

/* Zero-initialise. */
struct draft_sorter {
	struct record_sorter records;
	struct buffer key; /* the draft's to be added */
	struct buffer record;
	size_t record_bytes; /* the last draft's */
};

/* Adds a copy of the draft, and `size` bytes of facts, a multiple of 8; empties the key. */
int draft_sorter_add(struct draft_sorter *s, const void *facts, size_t size, const struct draft *d,
                     struct ipf_error *err);
/* Begins reading, or begins again. */
int draft_sorter_begin(struct draft_sorter *s, struct ipf_error *err);
/* The next draft and its facts: 1, 0 at the end, -1. The draft borrows texts valid until the next call. */
int draft_sorter_next(struct draft_sorter *s, void *facts, size_t size, struct draft *d, struct ipf_error *err);
void draft_sorter_clear(struct draft_sorter *s);
void draft_sorter_release(struct draft_sorter *s);

#endif
