/* Pictures of a comparison within a page, drawn as SVG without gnuplot. They take the colours of the page (report.css),
 * are 400 units wide, so that their texts can be read on a phone, and each has a title and a description.
 *
 *     compare_forest(&comparison, out);               // changes with their intervals
 *     compare_distributions(&comparison, out);        // which share of the requests took how long
 */
#ifndef COMPARE_COMPARE_PICTURES_H
#define COMPARE_COMPARE_PICTURES_H

#include "compare/comparison.h"

/* Appends a <figure> with the relative changes that have an interval, in the order of compare_order(); nothing if there
 * are none. */
void compare_forest(const struct comparison *c, struct buffer *out);
/* Appends a <figure> for each latency that requests of both sides have. */
void compare_distributions(const struct comparison *c, struct buffer *out);

/* The figures as a reader needs them: what differs, what more runs would tell, what does not differ, what is not
 * judged; within these as in figure_list.h. Sets order[0 … c->count - 1]. */
void compare_order(const struct comparison *c, const struct figure_difference *order[COMPARED_FIGURES]);
bool compare_differs(const struct figure_difference *f);

#endif
