/* Plots of a trace: arrivals over time, gaps between arrivals, lengths of prompts and answers, prefix cache hits. */
#ifndef PREP_TRACE_PLOT_H
#define PREP_TRACE_PLOT_H

#include "error.h"
#include "stats/prefix_reuse.h"
#include "stats/samples.h"

struct trace_plot {
	struct samples *at;             /* arrivals in seconds, sorted; may be empty */
	struct samples *input, *output; /* tokens, sorted */
	struct prefix_reuse *reuse;     /* computed */
};

/* Draws to `path`, whose name ends in .png or .svg. 1; 0: gnuplot is not installed; -1: an error. */
int trace_plot_draw(const struct trace_plot *plot, const char *path, struct ipf_error *err);

#endif
