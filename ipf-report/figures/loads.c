#include "figures/loads.h"

#include <math.h>
#include <string.h>

#define SAME_RATE 0.01

static bool is_ramp(const struct schedule_stage *stage)
{
	return strcmp(stage->kind, "ramp") == 0;
}

static bool differs(const struct schedule_stage *a, const struct schedule_stage *b)
{
	if (strcmp(a->kind, b->kind) != 0 || a->closed != b->closed)
		return true;
	if (a->closed && a->slots != b->slots)
		return true;
	return fabs(a->rate - b->rate) > SAME_RATE * fabs(a->rate);
}

bool repeats_differ(const struct run_data *run)
{
	for (int part = 1; part < run->part_count && !run->shards; part++)
		for (size_t i = 0; i < run->schedule.count; i++)
			if (run->schedule.stages[i].measured && run->schedule.stages[i].closed &&
			    run->parts[part].loads[i].slots != run->parts[0].loads[i].slots)
				return true;
	return false;
}

bool loads_differ(const struct run_data *run)
{
	const struct schedule_stage *first = NULL;
	for (size_t i = 0; i < run->schedule.count; i++) {
		const struct schedule_stage *stage = &run->schedule.stages[i];
		if (!stage->measured)
			continue;
		if (is_ramp(stage) || (first && differs(first, stage)))
			return true;
		first = first ? first : stage;
	}
	return repeats_differ(run);
}

bool stage_has_one_load(const struct run_data *run, size_t stage)
{
	return !is_ramp(&run->schedule.stages[stage]) && !repeats_differ(run);
}
