#include "figures/fairness.h"

#include "figures/figures.h"
#include "figures/jain_index.h"

#include <math.h>

struct fairness fairness_of(const struct figures *groups, int count)
{
	struct jain_index good = {0}, tokens = {0};
	for (int i = 0; i < count; i++) {
		const struct figures *g = &groups[i];
		if (g->judged > 0)
			jain_index_add(&good, (double)g->good / (double)g->judged);
		if (g->started > 0)
			jain_index_add(&tokens, g->output_total / (double)g->started);
	}
	struct fairness f = {.goodput = jain_index(&good), .output_tokens = jain_index(&tokens)};
	if (!isnan(f.goodput) || !isnan(f.output_tokens))
		f.groups = (int)(good.count > tokens.count ? good.count : tokens.count);
	return f;
}
