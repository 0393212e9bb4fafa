/* The rate over time as a picture, drawn by gnuplot where that is installed.
 *
 *     struct plot plot;
 *     plot_init(&plot, 0, 60);
 *     plot_add(&plot, 12.5);                          // an arrival, in seconds
 *     if (plot_draw(&plot, "rate.png", &err) == 0) …  // there is no gnuplot
 */
#ifndef IPF_PLOT_H
#define IPF_PLOT_H

#include "error.h"

enum { PLOT_BINS = 300 };

struct plot {
	double begin_s, end_s;
	double counts[PLOT_BINS];
};

void plot_init(struct plot *plot, double begin_s, double end_s);
void plot_add(struct plot *plot, double s);
/* Draws to `path`: .png or .svg. 1; 0: gnuplot is not installed; -1: another ending (IPF_USAGE), or it failed. */
int plot_draw(const struct plot *plot, const char *path, struct ipf_error *err);
int plot_check(const char *path, struct ipf_error *err);

#endif
