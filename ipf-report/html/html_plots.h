/* The plots of a page, drawn before it is rendered, since gnuplot can be missing or fail.
 *
 *     struct html_plots plots = {0};
 *     if (html_plots_draw(&plots, &input, &err) == 0) …         // plots.gnuplot_missing: the page has none
 *     html_plots_release(&plots);
 */
#ifndef REPORT_HTML_PLOTS_H
#define REPORT_HTML_PLOTS_H

#include "plots/plots.h"

struct html_plots {
	struct buffer figures; /* <figure> elements with an <svg> in each */
	int count;
	bool gnuplot_missing;
};

/* Draws the plots that the run has data for. -1: gnuplot failed, or out of memory. */
int html_plots_draw(struct html_plots *plots, const struct plot_input *input, struct ipf_error *err);
void html_plots_release(struct html_plots *plots);

#endif
