/* Timestamps of a coarse clock, which make all requests of a clock tick arrive at once, are spread out.
 *
 *     struct record_sorter drafts = {0};
 *     arrivals_add(&drafts, &draft, &err);                       // for each draft
 *     arrivals_dequantise(&drafts, seed, &reorder, &err);
 *     record_sorter_release(&drafts);
 */
#ifndef PREP_ARRIVALS_H
#define PREP_ARRIVALS_H

#include "draft/reorder.h"

/* Adds a copy of the draft. */
int arrivals_add(struct record_sorter *drafts, const struct draft *d, struct ipf_error *err);
/* Moves each arrival by a uniform draw towards the next timestamp, by at most the median distance between timestamps;
 * requests with the same timestamp keep their order. Hands the drafts over to `to`, in the order of adding. */
int arrivals_dequantise(struct record_sorter *drafts, uint64_t seed, struct reorder *to, struct ipf_error *err);

#endif
