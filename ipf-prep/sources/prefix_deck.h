/* Deals prefixes out evenly: in each round every prefix comes once, in another random order; groups of prefixes come in
 * their shares.
 *
 *     struct prefix_deck deck;
 *     prefix_deck_init(&deck, &groups, most, seed, &err);
 *     size_t prefix = prefix_deck_next(&deck, &group);     // index of the prefix; its group
 *     prefix_deck_release(&deck);
 */
#ifndef PREP_PREFIX_DECK_H
#define PREP_PREFIX_DECK_H

#include "draft/prefix_groups.h"

#include <stdint.h>

struct prefix_deck {
	const struct prefix_groups *groups;
	struct prefix_hand *hands; /* one for each group */
	uint64_t seed;
};

/* No more than `most` prefixes of a group are ever dealt. `groups` must outlive the deck, and have a group. */
int prefix_deck_init(struct prefix_deck *deck, const struct prefix_groups *groups, int64_t most, uint64_t seed,
                     struct ipf_error *err);
size_t prefix_deck_next(struct prefix_deck *deck, const struct prefix_group **group);
void prefix_deck_release(struct prefix_deck *deck);

#endif
