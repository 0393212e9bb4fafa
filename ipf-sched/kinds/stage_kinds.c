#include "absent.h"
#include "kinds/stage_kind.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int limits_check(const struct stage *stage, struct ipf_error *err)
{
	if (stage->for_ns != IPF_ABSENT && stage->n != IPF_ABSENT)
		return ipf_error_set(err, IPF_USAGE, "for= and n= cannot be combined");
	return 0;
}

int cv_check(enum gaps_kind gaps, double cv, struct ipf_error *err)
{
	double least, most;

	gaps_bounds(gaps, &least, &most);
	if (cv < least || cv > most)
		return ipf_error_set(err, IPF_USAGE, "cv: expected a number between %g and %g, got %g", least, most, cv);
	return 0;
}

int process_check(const struct stage *stage, struct ipf_error *err)
{
	bool one = stage->process == GAPS_POISSON || stage->process == GAPS_CONSTANT;

	if (one && !isnan(stage->cv))
		return ipf_error_set(err, IPF_USAGE, "cv: does not apply to process=poisson or process=constant");
	if (!one && stage->process != GAPS_UNIFORM && isnan(stage->cv))
		return ipf_error_set(err, IPF_USAGE, "process=%s requires cv=NUMBER", gaps_kind_name(stage->process));
	return cv_check(stage->process, stage->cv, err);
}

const char *gaps_kind_name(enum gaps_kind gaps)
{
	static const char *const names[] = {
		[GAPS_POISSON] = "poisson", [GAPS_CONSTANT] = "constant", [GAPS_GAMMA] = "gamma",
		[GAPS_WEIBULL] = "weibull", [GAPS_UNIFORM] = "uniform",
	};

	return names[gaps];
}

const char *replay_by_name(enum replay_by by)
{
	static const char *const names[] = {[REPLAY_TIME] = "time", [REPLAY_THIN] = "thin", [REPLAY_COPIES] = "copies"};

	return names[by];
}

static const struct stage_key burst_keys[] = {KEY_N, KEY_FOR, KEY_SLOTS, KEY_NAME, KEY_PHASES, KEY_END};
static const struct stage_kind kind_burst = {
	.name = "burst",
	.summary = "all arrivals at once; without for=, the stage ends with its last answer",
	.type = STAGE_AT_ONCE,
	.keys = burst_keys,
};

static const struct stage_key rest_keys[] = {
	REQUIRED_KEY("for", "TIME", KEY_DURATION, for_ns, "length of the stage"),
	KEY_NAME,
	KEY_END,
};
static const struct stage_kind kind_rest = {
	.name = "rest",
	.summary = "a pause: no arrivals, not measured",
	.type = STAGE_REST,
	.keys = rest_keys,
};

const struct stage_kind *const stage_kinds[] = {
	&kind_constant, &kind_poisson, &kind_gamma, &kind_weibull, &kind_uniform, &kind_ramp,
	&kind_steps,    &kind_sine,    &kind_spike, &kind_onoff,   &kind_rates,   &kind_replay,
	&kind_closed,   &kind_burst,   &kind_rest,  &kind_sweep,   &kind_search,  NULL,
};

const struct stage_kind *stage_kind_find(const char *name)
{
	for (size_t i = 0; stage_kinds[i]; i++)
		if (strcmp(stage_kinds[i]->name, name) == 0)
			return stage_kinds[i];
	return NULL;
}

int arrival_process_begin(struct arrival_process *p, const struct stage *stage, const struct trace_index *trace,
                          uint64_t seed, struct ipf_error *err)
{
	*p = (struct arrival_process){
		.stage = stage,
		.trace = trace,
		.seed = seed,
		.first_head = IPF_ABSENT,
		.speed = {1, 1},
		.end_ns = IPF_ABSENT,
		.end_head = IPF_ABSENT,
	};
	/* The generator depends on the kind and on the ordinal within it, so that adding a stage of another kind changes
	 * nothing. */
	rng_init(&p->rng, seed, stage->kind->name, stage->ordinal);
	if (stage->kind->state_size && !(p->state = calloc(1, stage->kind->state_size)))
		return ipf_error_memory(err);
	if (stage->kind->begin && stage->kind->begin(p, err) < 0) {
		arrival_process_end(p);
		return -1;
	}
	return 0;
}

void arrival_process_end(struct arrival_process *p)
{
	free(p->state);
	p->state = NULL;
}

int64_t arrival_round(double ns)
{
	return ns < (double)ARRIVAL_LIMIT ? (int64_t)(ns + 0.5) : ARRIVAL_LIMIT;
}
