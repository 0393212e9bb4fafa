#include "sources/prefix_deck.h"

#include "stats/rng.h"

#include <stdlib.h>

struct prefix_hand {
	double share, due; /* how often the group comes; how far it is behind it */
	size_t *order;     /* its prefixes', in this round */
	size_t count, at;
	uint64_t round;
};

int prefix_deck_init(struct prefix_deck *deck, const struct prefix_groups *groups, int64_t most, uint64_t seed,
                     struct ipf_error *err)
{
	size_t count = groups->shares.count;
	*deck = (struct prefix_deck){.groups = groups, .seed = seed};
	deck->hands = calloc(count, sizeof *deck->hands);
	for (size_t i = 0; deck->hands && i < count; i++) {
		struct prefix_hand *hand = &deck->hands[i];
		const struct share *shares = groups->shares.items;
		double end = i + 1 < count ? shares[i].cumulative : 1, begin = i ? shares[i - 1].cumulative : 0;
		int64_t prefixes = groups->groups[i].count;
		hand->share = end > begin ? end - begin : 0;
		hand->count = hand->at = (size_t)(prefixes < most ? prefixes : most);
		hand->order = calloc(hand->count, sizeof *hand->order);
		if (!hand->order)
			break;
		for (size_t k = 0; k < hand->count; k++)
			hand->order[k] = k;
	}
	if (deck->hands && deck->hands[count - 1].order)
		return 0;
	prefix_deck_release(deck);
	return ipf_error_memory(err);
}

static void shuffle(const struct prefix_deck *deck, size_t group, struct prefix_hand *hand)
{
	struct rng rng;
	/* An odd constant keeps the rounds of groups apart. */
	rng_init(&rng, deck->seed, "prefix round", hand->round++ + (uint64_t)group * UINT64_C(0x9e3779b97f4a7c15));
	for (size_t i = hand->count; i > 1; i--) {
		size_t k = (size_t)rng_below(&rng, i), moved = hand->order[i - 1];
		hand->order[i - 1] = hand->order[k];
		hand->order[k] = moved;
	}
	hand->at = 0;
}

size_t prefix_deck_next(struct prefix_deck *deck, const struct prefix_group **group)
{
	size_t best = 0;
	for (size_t i = 0; i < deck->groups->shares.count; i++) {
		deck->hands[i].due += deck->hands[i].share;
		if (deck->hands[i].due > deck->hands[best].due)
			best = i;
	}
	struct prefix_hand *hand = &deck->hands[best];
	hand->due -= 1;
	if (hand->at == hand->count)
		shuffle(deck, best, hand);
	*group = &deck->groups->groups[best];
	return (size_t)(*group)->first + hand->order[hand->at++];
}

void prefix_deck_release(struct prefix_deck *deck)
{
	for (size_t i = 0; deck->hands && i < deck->groups->shares.count; i++)
		free(deck->hands[i].order);
	free(deck->hands);
	*deck = (struct prefix_deck){0};
}
