#include "api/backoff.h"

#include "clock.h"

enum { MOST_DOUBLINGS = 6 };
static const int64_t first_ns = 500 * NS_PER_MS, most_ns = 30 * NS_PER_S;

void backoff_init(struct backoff *b, uint64_t seed)
{
	b->failures = 0;
	rng_init(&b->rng, seed, "backoff", 0);
}

int64_t backoff_next(struct backoff *b)
{
	int64_t longest = first_ns << (b->failures < MOST_DOUBLINGS ? b->failures : MOST_DOUBLINGS);
	if (longest > most_ns)
		longest = most_ns;
	if (b->failures < MOST_DOUBLINGS)
		b->failures++;
	return longest / 2 + (int64_t)(rng_uniform(&b->rng) * (double)(longest / 2));
}

void backoff_reset(struct backoff *b)
{
	b->failures = 0;
}
