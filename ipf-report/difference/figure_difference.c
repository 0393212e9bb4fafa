#include "difference/figure_difference.h"

#include "difference/holm.h"

#include <math.h>
#include <string.h>

const char *const outcome_names[] = {
	[OUTCOME_SAME] = "no difference",
	[OUTCOME_SLOWER] = "slower",
	[OUTCOME_FASTER] = "faster",
	[OUTCOME_MIXED] = "mixed",
	[OUTCOME_FEW_RUNS] = "not enough runs",
	[OUTCOME_UNJUDGED] = "not judged",
	[OUTCOME_WRONG] = "wrong answers",
	[OUTCOME_INVALID] = "not compared",
};

bool finding_is_worse(const struct compared_figure *figure, enum finding finding)
{
	return finding == (figure->lower_is_better ? FINDING_HIGHER : FINDING_LOWER);
}

const char *finding_name(const struct compared_figure *figure, enum finding finding)
{
	const bool share = figure_is_share(figure);
	if (finding == FINDING_SAME)
		return "no difference";
	if (finding == FINDING_FEW_RUNS)
		return "not enough runs";
	if (finding == FINDING_NONE)
		return "not judged";
	if (share)
		return finding == FINDING_HIGHER ? "more" : "fewer";
	return finding_is_worse(figure, finding) ? "slower" : "faster";
}

size_t figure_differences_judge(struct figure_difference *list, size_t count, const struct difference_limits *least)
{
	double p[COMPARED_FIGURES];
	struct difference_limits limits = *least;
	limits.family = 0;
	for (size_t k = 0; k < count; k++) {
		p[k] = list[k].d.p;
		limits.family += isnan(p[k]) ? 0 : 1;
	}
	holm_adjust(p, count);
	for (size_t k = 0; k < count; k++) {
		list[k].d.adjusted = p[k];
		difference_judge(&list[k].d, &limits);
	}
	return limits.family;
}

/* Is of each measure tested at least one figure known well enough? */
static bool resolved(const struct figure_difference *list, size_t count)
{
	for (size_t k = 0; k < count; k++) {
		bool tested = false, known = false;
		for (size_t j = 0; j < count; j++)
			if (strcmp(list[j].figure->measure, list[k].figure->measure) == 0) {
				tested |= list[j].d.finding != FINDING_NONE;
				known |= list[j].d.finding == FINDING_SAME;
			}
		if (tested && !known)
			return false;
	}
	return true;
}

enum outcome figure_differences_outcome(const struct figure_difference *list, size_t count, size_t family)
{
	bool worse = false, better = false;
	for (size_t k = 0; k < count; k++) {
		const enum finding finding = list[k].d.finding;
		const bool differs = finding == FINDING_LOWER || finding == FINDING_HIGHER;
		worse |= differs && finding_is_worse(list[k].figure, finding);
		better |= differs && !finding_is_worse(list[k].figure, finding);
	}
	if (worse || better)
		return worse && better ? OUTCOME_MIXED : worse ? OUTCOME_SLOWER : OUTCOME_FASTER;
	if (family == 0)
		return OUTCOME_UNJUDGED;
	return resolved(list, count) ? OUTCOME_SAME : OUTCOME_FEW_RUNS;
}
