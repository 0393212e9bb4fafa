/* The differences of several figures, judged together.
 *
 *     struct figure_difference list[] = {{.figure = figure, .d = difference_of(&base, &value, &design)}, …};
 *     size_t family = figure_differences_judge(list, count, &(struct difference_limits){.effect = DIFFERENCE_EFFECT});
 *     if (figure_differences_outcome(list, count, family) == OUTCOME_SLOWER) …
 */
#ifndef DIFFERENCE_FIGURE_DIFFERENCE_H
#define DIFFERENCE_FIGURE_DIFFERENCE_H

#include "catalogue/figure_list.h"
#include "difference/difference.h"

enum outcome {
	OUTCOME_SAME,     /* no figure differs, and of each measure at least one is known to within the least effect */
	OUTCOME_SLOWER,   /* at least one figure is worse, and none is better */
	OUTCOME_FASTER,   /* at least one is better, and none is worse */
	OUTCOME_MIXED,    /* both */
	OUTCOME_FEW_RUNS, /* nothing differs, but not of every measure a figure is known well enough */
	OUTCOME_UNJUDGED, /* no noise is known, as of another tool's figures */
	OUTCOME_WRONG,    /* the new side answers more canaries wrong: its latencies do not count */
	OUTCOME_INVALID,  /* the verdict of a side is INVALID: not compared */
};
extern const char *const outcome_names[]; /* "no difference", "slower", … */

struct figure_difference {
	const struct compared_figure *figure;
	struct difference d;
	double *of_runs[SIDES]; /* the figure of each run; NULL: not known */
};

/* A figure is better or worse, not only lower or higher. */
const char *finding_name(const struct compared_figure *figure, enum finding finding);
bool finding_is_worse(const struct compared_figure *figure, enum finding finding);

/* Adjusts the p values of all figures that could be tested (holm.h) and judges each figure by the least effects. At
 * most COMPARED_FIGURES. Returns how many could be tested. */
size_t figure_differences_judge(struct figure_difference *list, size_t count, const struct difference_limits *least);
/* `family`: how many could be tested. */
enum outcome figure_differences_outcome(const struct figure_difference *list, size_t count, size_t family);

#endif
