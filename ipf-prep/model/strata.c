#include "model/strata.h"

enum { STRATA_LEAST = 8 };

void strata_init(struct strata *s, uint64_t seed, const char *name, uint64_t index, double expected)
{
	int first = expected < STRATA_LEAST ? STRATA_LEAST : expected > STRATA_MOST ? STRATA_MOST : (int)expected;
	*s = (struct strata){.size = first, .next = first};
	rng_init(&s->rng, seed, name, index);
}

static void begin_block(struct strata *s)
{
	s->size = s->begun ? STRATA_MOST : s->size;
	s->begun = true;
	s->next = 0;
	for (int i = 0; i < s->size; i++) {
		int k = (int)rng_below(&s->rng, (uint64_t)i + 1);
		s->order[i] = s->order[k];
		s->order[k] = (uint16_t)i;
	}
}

double strata_draw(struct strata *s)
{
	if (s->next >= s->size)
		begin_block(s);
	return (s->order[s->next++] + rng_uniform(&s->rng)) / s->size;
}
