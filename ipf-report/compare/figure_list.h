/* The figures that a comparison compares, in the order in which it shows them. */
#ifndef COMPARE_FIGURE_LIST_H
#define COMPARE_FIGURE_LIST_H

#include "stream/metric.h"

#include <stdbool.h>

enum figure_kind { FIGURE_MEAN, FIGURE_PERCENTILE, FIGURE_REQUESTS, FIGURE_OUTPUT, FIGURE_GOOD, FIGURE_FAILURES };

struct compared_figure {
	const char *name;    /* "ttft.p99": in JSON and --fail-if */
	const char *measure; /* "ttft": what several figures are of */
	const char *label;   /* "TTFT p99" */
	const char *unit;    /* "ms", "per s"; "": a share */
	enum figure_kind kind;
	enum metric metric; /* of a mean or percentile */
	double percentile;
	bool lower_is_better;
};

enum { COMPARED_FIGURES = 16 };
extern const struct compared_figure compared_figures[COMPARED_FIGURES];

#endif
