/* "plots" of the JSON report: the plots the run has data for, as data and commands for gnuplot. */
#ifndef REPORT_JSON_PLOTS_H
#define REPORT_JSON_PLOTS_H

#include "plots/plots.h"

#include <jansson.h>

/* A new array. NULL: out of memory. */
json_t *json_plots(const struct plot_input *input, struct ipf_error *err);

#endif
