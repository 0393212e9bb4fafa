#include "kinds/arrival_process.h"

#include "absent.h"

#include <stdlib.h>

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
	/* The generator depends on the kind and on the ordinal within it, so adding a stage of another kind changes
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
