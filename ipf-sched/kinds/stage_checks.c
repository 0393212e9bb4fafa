#include "kinds/stage_checks.h"

#include "absent.h"
#include "cli/units.h"

#include <math.h>

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

int rampup_check(const struct stage *stage, bool closed, const char *of, struct ipf_error *err)
{
	char length[32], rampup[32];

	if (stage->rampup_ns == IPF_ABSENT)
		return 0;
	if (!closed)
		return ipf_error_set(err, IPF_USAGE, "rampup: requires %s", of);
	if (stage->for_ns != IPF_ABSENT && stage->rampup_ns > stage->for_ns)
		return ipf_error_set(err, IPF_USAGE, "rampup: expected at most for= (%s), got %s",
		                     format_duration(stage->for_ns, length), format_duration(stage->rampup_ns, rampup));
	return 0;
}
