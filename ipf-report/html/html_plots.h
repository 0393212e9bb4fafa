/* The plots of a page, drawn before it is rendered, since gnuplot can be missing or fail.
 *
 *     struct html_plots plots = {0};
 *     if (html_plots_draw(&plots, json_object_get(report, "plots"), json_object_get(report, "outliers"), &err) == 0) …
 *     html_plots_release(&plots);                               // plots.gnuplot_missing: the page has none
 */
#ifndef REPORT_HTML_PLOTS_H
#define REPORT_HTML_PLOTS_H

#include "plots/plots.h"

#include <jansson.h>

struct html_plots {
	struct buffer
		figures; /* <figure> elements with an <svg> in each, and their data for the page's script: plot_values.h */
	int count;
	bool gnuplot_missing;
};

/* Draws "plots" of a JSON report; NULL: it has none. "outliers" are the requests its script shows. -1: IPF_INPUT for a
 * foreign plot, gnuplot failed, or out of memory. */
int html_plots_draw(struct html_plots *plots, json_t *list, json_t *outliers, struct ipf_error *err);
void html_plots_release(struct html_plots *plots);

#endif
