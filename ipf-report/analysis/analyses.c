#include "analysis/analyses.h"

int analyses_build(struct analyses *a, const struct analysis_input *in, struct ipf_error *err)
{
	*a = (struct analyses){0};
	cost_find(&a->cost, in->run, &in->figures->total, in->price);
	int bad = 0;
	if (in->wanted & ANALYSIS_SATURATION)
		bad = saturation_find(&a->saturation, in->run, in->finding, err);
	if (bad == 0 && in->wanted & ANALYSIS_SATURATION)
		bad = load_objectives_find(
			&a->objectives,
			&(struct load_objectives_input){in->run, in->figures, &a->saturation, in->options->errors_as_inf}, err);
	if (bad == 0 && in->wanted & ANALYSIS_SESSIONS)
		bad = session_figures_build(&a->sessions, in->run, &in->options->percentiles, err);
	if (bad == 0 && in->wanted & ANALYSIS_REPEATS)
		bad = repeats_build(&a->repeats, in->run, in->options, err);
	if (bad == 0 && in->wanted & ANALYSIS_ANSWERS)
		bad = answer_trends_find(&a->answers, in->run, in->servers, err);
	if (bad == 0 && in->wanted & ANALYSIS_AUTOSCALING)
		bad = autoscaling_find(&a->autoscaling, in->run, in->servers, err);
	return bad;
}

void analyses_release(struct analyses *a)
{
	saturation_release(&a->saturation);
	load_objectives_release(&a->objectives);
	repeats_release(&a->repeats);
}
