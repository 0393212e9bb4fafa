#include "figures/attainment.h"

#include "figures/metric_summary.h"
#include "stats/incomplete_beta.h"

#include <math.h>

#define SURPRISE 0.01 /* as samples_needed has it */

const char *const objective_state_names[] = {NULL, "met", "missed", "too few requests"};

enum objective_state objective_state(double p, int64_t requests, int64_t beyond, bool within)
{
	const double tail = 1 - p / 100;
	if (requests <= 0)
		return OBJECTIVE_UNJUDGED;
	if (requests >= (int64_t)samples_needed(p))
		return within ? OBJECTIVE_MET : OBJECTIVE_MISSED;
	if (within || beyond <= 0)
		return OBJECTIVE_TOO_FEW;
	const double chance = incomplete_beta(tail, 1 - tail, (double)beyond, (double)(requests - beyond + 1));
	return chance < SURPRISE ? OBJECTIVE_MISSED : OBJECTIVE_TOO_FEW;
}

int attainment_of_rows(struct attainment *a, const struct objective *objective, const struct picked_rows *rows,
                       bool as_inf, struct samples *s)
{
	int64_t infinite;
	if (row_samples_metric(rows, objective->metric, AS_WAITED, s, &infinite) < 0)
		return -1;
	const int64_t shown = (as_inf ? infinite : 0) + a->absent;
	infinite += a->absent;
	a->value_ms = percentile_with_infinite(s, shown, objective->percentile) / 1e6;
	a->waited_ms = percentile_with_infinite(s, infinite, objective->percentile) / 1e6;
	a->requests = (int64_t)s->count + infinite;
	a->beyond = infinite;
	for (size_t i = 0; i < s->count; i++)
		a->beyond += s->values[i] > (double)objective->limit_ns;
	return 0;
}

void attainment_judge(struct attainment *a, const struct objective *objective)
{
	const bool within = a->waited_ms * 1e6 <= (double)objective->limit_ns;
	a->state = objective_state(objective->percentile, a->requests, a->beyond, within);
}
