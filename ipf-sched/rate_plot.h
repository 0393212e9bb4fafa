/* Plots the rate of arrivals over time, with gnuplot if it is installed.
 *
 *     struct rate_plot plot;
 *     rate_plot_init(&plot, 0, 60);
 *     rate_plot_add(&plot, 12.5);                          // an arrival, in seconds
 *     if (rate_plot_draw(&plot, "rate.png", &err) == 0) …  // gnuplot is not installed
 */
#ifndef IPF_RATE_PLOT_H
#define IPF_RATE_PLOT_H

#include "error.h"

enum { RATE_PLOT_BINS = 300 };

struct rate_plot {
	double begin_s, end_s;
	double counts[RATE_PLOT_BINS];
};

void rate_plot_init(struct rate_plot *plot, double begin_s, double end_s);
void rate_plot_add(struct rate_plot *plot, double s);
/* Checks before any work the name ends in .png or .svg; IPF_USAGE. */
int rate_plot_check(const char *path, struct ipf_error *err);
/* Draws to `path`. 1: done; 0: gnuplot is not installed; -1: the name is wrong (IPF_USAGE), or drawing failed. */
int rate_plot_draw(const struct rate_plot *plot, const char *path, struct ipf_error *err);

#endif
