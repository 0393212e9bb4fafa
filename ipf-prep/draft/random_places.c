#include "draft/random_places.h"

#include "absent.h"
#include "cli/units.h"
#include "stats/rng.h"

#include <string.h>

int share_or_count_parse(struct share_or_count *option, const char *text, struct ipf_error *err)
{
	struct ipf_error ignored = {0};
	bool share = strpbrk(text, "%.") != NULL;
	*option = (struct share_or_count){0};
	if ((share ? parse_share(text, &option->share, &ignored) : parse_count(text, &option->count, &ignored)) == 0 &&
	    (option->share > 0 || option->count > 0))
		return 0;
	return ipf_error_set(err, IPF_USAGE, "expected a share such as 1%% or 0.01, or a number such as 50, got \"%s\"",
	                     text);
}

static void find_next(struct random_places *p)
{
	struct rng rng;
	rng_init(&rng, p->seed, p->name, (uint64_t)p->taken);
	if (p->rate > 0)
		p->next = ((double)p->taken + rng_uniform(&rng)) / p->rate;
}

void random_places_init(struct random_places *p, uint64_t seed, const char *name, double rate, int64_t most)
{
	*p = (struct random_places){.seed = seed, .name = name, .rate = rate, .most = most};
	find_next(p);
}

bool random_places_take(struct random_places *p, int64_t index)
{
	if (!(p->rate > 0) || (p->most != IPF_ABSENT && p->taken >= p->most) || p->next >= (double)index + 1)
		return false;
	p->taken++;
	find_next(p);
	return true;
}
