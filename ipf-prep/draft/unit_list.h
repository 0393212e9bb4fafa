/* Units in a list of any length (sort/record_sorter.h): in the order of adding, or of their keys.
 *
 *     struct unit_list list = {0};
 *     unit_list_add(&list, (struct slice){0}, &unit, &draft, &err);    // for each draft of each unit
 *     unit_list_begin(&list, &err);
 *     while ((got = unit_list_next(&list, &unit, &draft, &err)) > 0) …
 *     unit_list_release(&list);
 *
 * The drafts of a unit must have the same key; then they stay together.
 */
#ifndef PREP_UNIT_LIST_H
#define PREP_UNIT_LIST_H

#include "draft/reorder.h"

/* Zero-initialise. */
struct unit_list {
	struct record_sorter drafts;
	struct buffer record;
};

/* Adds a copy of the draft. */
int unit_list_add(struct unit_list *list, struct slice key, const struct unit *unit, const struct draft *d,
                  struct ipf_error *err);
/* Begins reading, or begins again. */
int unit_list_begin(struct unit_list *list, struct ipf_error *err);
/* The next draft and its unit: 1, 0 at the end, -1. The draft borrows texts that are valid until the next call. */
int unit_list_next(struct unit_list *list, struct unit *unit, struct draft *d, struct ipf_error *err);
void unit_list_clear(struct unit_list *list);
void unit_list_release(struct unit_list *list);

#endif
