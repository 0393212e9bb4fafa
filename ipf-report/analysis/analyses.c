#include "analysis/analyses.h"

int analyses_build(struct analyses *a, const struct run_data *run, const struct verdict_finding *finding,
                   const struct percentiles *list, struct ipf_error *err)
{
	*a = (struct analyses){0};
	int bad = saturation_find(&a->saturation, run, finding, err);
	if (bad == 0)
		bad = session_figures_build(&a->sessions, run, list, err);
	return bad;
}

void analyses_release(struct analyses *a)
{
	saturation_release(&a->saturation);
}
