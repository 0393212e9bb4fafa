/* Conditions under which a comparison fails (--fail-if), for CI.
 *
 *     struct fail_if condition;
 *     fail_if_parse(&condition, "ttft.p99 > +5%", &err);
 *     comparison.conditions = &condition, …                      // comparison.h evaluates them
 *
 * FIGURE < LIMIT or FIGURE > LIMIT, and a word: figures are those of figure_list.h. A limit with a sign is one of the
 * change: +5% of the base, +20ms, -3 (per second), of failures in percentage points. Without a sign, it is one of the
 * other side's own figure: 500ms, 120 (per second), of failures 1%. The word selects the part of the change to exceed
 * the limit:
 *
 *   (none)     the change, and it is significant: p < 0.05, adjusted for the number of conditions
 *   estimate   the change
 *   certain    the whole 95 % interval
 *   possible   any of the 95 % interval, so a change which cannot be excluded fails; even if it has no interval
 *
 * Without a word and where no noise is known, as of figures that another tool states, the change alone decides.
 *
 * A condition is undecided, which is not passed, if it has no word and the change is beyond the limit but not
 * significant, or the interval does not end on that side; and with `certain`, if there is no interval. Whether it fails
 * is the choice of the caller (--undecided).
 */
#ifndef COMPARE_FAIL_IF_H
#define COMPARE_FAIL_IF_H

#include "difference/difference.h"
#include "catalogue/figure_list.h"

enum fail_if_form { FAIL_IF_CHANGE, FAIL_IF_DIFFERENCE, FAIL_IF_VALUE };
enum fail_if_word { FAIL_IF_SIGNIFICANT, FAIL_IF_ESTIMATE, FAIL_IF_CERTAIN, FAIL_IF_POSSIBLE };

struct fail_if {
	const char *text; /* borrowed from the parsed text */
	const struct compared_figure *figure;
	bool above;
	enum fail_if_form form;
	enum fail_if_word word;
	double limit; /* for a change or a share: 0.05 for 5 %; else in the unit of the figure */
	/* by fail_if_judge: */
	bool failed;
	bool undecided; /* it is not known whether the condition holds; comparison_build then decides on `failed` */
	char detail[640];
};

enum { FAIL_IF_MOST = 64 };

/* IPF_USAGE. */
int fail_if_parse(struct fail_if *condition, const char *text, struct ipf_error *err);
/* `d` NULL: neither side has the figure; `p` is adjusted for the number of tested conditions, `family`. A figure a side
 * does not have fails. */
void fail_if_judge(struct fail_if *condition, const struct difference *d, double p, size_t family);

#endif
