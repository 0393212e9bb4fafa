/* A kind of plot: a row of the table in plots.c, and a function making it. To add one, copy cdf_plots.c.
 *
 * A function gets an empty plot with the kind's name and the usual size. It fills data, script, title and words, and
 * returns 1; or 0 through plot_absent if the run has no data for it; or -1: out of memory.
 */
#ifndef REPORT_PLOT_KIND_H
#define REPORT_PLOT_KIND_H

#include "analysis/saturation.h"
#include "figures/figures.h"
#include "figures/server_figures.h"
#include "plots/plot.h"

/* The values that plots show. Borrowed. */
struct plot_input {
	const struct run_data *run;
	const struct run_figures *figures;
	const struct server_figures *servers;
	const struct saturation *saturation;
	const struct figure_options *options;
};

struct plot_kind {
	const char *name; /* the files': lower-case letters, digits and hyphens */
	int (*make)(const struct plot_kind *kind, const struct plot_input *input, struct plot *p);
	enum metric metric; /* for kinds that exist for several metrics */
};

int make_cdf_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p);
int make_gap_cdf_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p);
int make_rate_latency_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p);
int make_rate_throughput_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p);
int make_pareto_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p);
int make_heat_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p);
int make_input_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p);
int make_position_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p);
int make_lane_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p);
int make_arrivals_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p);
int make_gaps_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p);
int make_time_line_plot(const struct plot_kind *kind, const struct plot_input *input, struct plot *p);

#endif
