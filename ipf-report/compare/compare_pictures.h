/* Pictures of a comparison within a page, drawn as SVG without gnuplot. They take the colours of the page (report.css),
 * are 400 units wide, so their texts can be read on a phone, and each has a title and a description.
 *
 *     compare_forest(&comparison, out);               // changes with their intervals
 *     compare_distributions(&comparison, out);        // which share of the requests took how long
 */
#ifndef COMPARE_COMPARE_PICTURES_H
#define COMPARE_COMPARE_PICTURES_H

#include "compare/comparison.h"

/* Appends a <figure> with the relative changes with an interval, in the order of compare_order(); nothing if there are
 * none. */
void compare_forest(const struct comparison *c, struct buffer *out);
/* Appends a <figure> for each latency common to both sides. */
void compare_distributions(const struct comparison *c, struct buffer *out);

/* The figures in the reader's order: differences, figures needing more runs, equal ones, those not judged; within these
 * as in figure_list.h. Sets order[0 … c->count - 1]. */
void compare_order(const struct comparison *c, const struct figure_difference *order[COMPARED_FIGURES]);
bool compare_differs(const struct figure_difference *f);

#endif
