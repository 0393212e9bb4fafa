#include "kinds/stage_kind.h"

#include <string.h>

const struct stage_kind *const stage_kinds[] = {
	&kind_constant, &kind_poisson, &kind_gamma,  &kind_weibull, &kind_uniform, &kind_ramp,   &kind_steps,
	&kind_sine,     &kind_spike,   &kind_onoff,  &kind_rates,   &kind_replay,  &kind_closed, &kind_burst,
	&kind_rest,     &kind_sweep,   &kind_search, &kind_alone,   NULL,
};

const struct stage_kind *stage_kind_find(const char *name)
{
	for (size_t i = 0; stage_kinds[i]; i++)
		if (strcmp(stage_kinds[i]->name, name) == 0)
			return stage_kinds[i];
	return NULL;
}
