#include "results/stated.h"

#include "absent.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct stated *stated_new(void)
{
	return calloc(1, sizeof(struct stated));
}

void stated_free(struct stated *stated)
{
	if (stated)
		free(stated->stages);
	free(stated);
}

static const struct stated_summary no_summary = {.n = IPF_ABSENT, .mean = NAN, .std = NAN, .min = NAN, .max = NAN};

void stated_stage_init(struct stated_stage *stage)
{
	*stage = (struct stated_stage){.ok = IPF_ABSENT,
	                               .failed = IPF_ABSENT,
	                               .window_s = NAN,
	                               .offered = NAN,
	                               .completed = NAN,
	                               .input_per_s = NAN,
	                               .output_per_s = NAN,
	                               .total_per_s = NAN,
	                               .in_flight_mean = NAN,
	                               .in_flight_max = NAN,
	                               .input_total = NAN,
	                               .output_total = NAN,
	                               .due_e2e = no_summary,
	                               .itl = no_summary,
	                               .input = no_summary,
	                               .output = no_summary};
	for (enum metric m = 0; m < METRIC_COUNT; m++)
		stage->start[m] = no_summary;
}

struct stated_stage *stated_stage_of(struct stated *stated, size_t number)
{
	if (number >= stated->count) {
		struct stated_stage *stages = realloc(stated->stages, (number + 1) * sizeof *stages);
		if (!stages)
			return NULL;
		stated->stages = stages;
		while (stated->count <= number)
			stated_stage_init(&stages[stated->count++]);
	}
	return &stated->stages[number];
}

void stated_percentile(struct stated_summary *s, double p, double value)
{
	int at = 0;
	while (at < s->count && s->p[at] < p)
		at++;
	if (!(p > 0 && p < 100) || isnan(value) || s->count == STATED_PERCENTILES || (at < s->count && s->p[at] <= p))
		return;
	memmove(s->p + at + 1, s->p + at, (size_t)(s->count - at) * sizeof *s->p);
	memmove(s->value + at + 1, s->value + at, (size_t)(s->count - at) * sizeof *s->value);
	s->p[at] = p;
	s->value[at] = value;
	s->count++;
	s->has = true;
}

static bool stage_any(const struct stated_stage *stage)
{
	const double figures[] = {stage->window_s,     stage->offered,     stage->completed,      stage->input_per_s,
	                          stage->output_per_s, stage->total_per_s, stage->in_flight_mean, stage->in_flight_max,
	                          stage->input_total,  stage->output_total};
	bool any = stage->ok != IPF_ABSENT || stage->failed != IPF_ABSENT || stage->due_e2e.has || stage->itl.has ||
	           stage->input.has || stage->output.has;
	for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
		any |= !isnan(figures[i]);
	for (size_t i = 0; i < METRIC_COUNT; i++)
		any |= stage->start[i].has;
	return any;
}

bool stated_any(const struct stated *stated)
{
	for (size_t i = 0; i < stated->count; i++)
		if (stage_any(&stated->stages[i]))
			return true;
	return false;
}
