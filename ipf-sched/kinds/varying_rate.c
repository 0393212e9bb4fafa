#include "kinds/varying_rate.h"

#include "cli/units.h"
#include "absent.h"
#include "kinds/stage_checks.h"

struct rate_piece linear_piece(double length_ns, double from, double to)
{
	return (struct rate_piece){
		.length_ns = length_ns,
		.mass = per_ns((from + to) / 2) * length_ns,
		.from = per_ns(from),
		.square = per_ns(from) * per_ns(from),
		.doubled_slope = 2 * (per_ns(to) - per_ns(from)) / length_ns,
	};
}

int varying_begin(struct arrival_process *p, struct ipf_error *err)
{
	struct varying_rate *v = p->state;

	(void)err;
	gaps_init(&v->gaps, p->stage->process, p->stage->cv);
	return 0;
}

int varying_check(const struct stage *stage, struct ipf_error *err)
{
	char text[32];

	if (process_check(stage, err) < 0)
		return -1;
	if (stage->every_ns != IPF_ABSENT && stage->every_ns < NS_PER_MS)
		return ipf_error_set(err, IPF_USAGE, "every: expected at least 1 ms, got %s",
		                     format_duration(stage->every_ns, text));
	return limits_check(stage, err);
}
