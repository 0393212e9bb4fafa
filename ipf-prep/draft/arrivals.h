/* Timestamps of a coarse clock, which make all requests of a clock tick arrive at once, are spread out.
 *
 *     struct draft_sorter drafts = {0};
 *     draft_sorter_add(&drafts, NULL, 0, &draft, &err);                       // for each draft
 *     arrivals_dequantise(&drafts, seed, &reorder, &err);
 *     draft_sorter_release(&drafts);
 */
#ifndef PREP_ARRIVALS_H
#define PREP_ARRIVALS_H

#include "draft/draft_sorter.h"
#include "draft/reorder.h"

/* Moves each arrival by a uniform draw towards the next timestamp, by at most the median distance between timestamps;
 * requests with the same timestamp keep their order. Hands the drafts over to `to`, in the order of adding. */
int arrivals_dequantise(struct draft_sorter *drafts, uint64_t seed, struct reorder *to, struct ipf_error *err);

#endif
