/* A trace as a picture: arrivals over time, the gaps between them, how long prompts and answers are, what prompts
 * share. */
#ifndef PREP_PICTURE_H
#define PREP_PICTURE_H

#include "error.h"
#include "stat/prefix_reuse.h"
#include "stats/samples.h"

struct trace_plot {
	struct samples *at;             /* s, sorted; may be empty */
	struct samples *input, *output; /* tokens, sorted */
	struct prefix_reuse *sharing;   /* reckoned */
};

/* To `path`, .png or .svg. 1; 0: gnuplot is not installed; -1. */
int trace_plot_draw(const struct trace_plot *picture, const char *path, struct ipf_error *err);

#endif
