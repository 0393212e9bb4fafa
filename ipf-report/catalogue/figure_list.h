/* The figures of a run that are held against those of other runs, in the order in which they are shown: all of them by
 * --compare, those that are `repeated` among the repeats of a run. */
#ifndef REPORT_FIGURE_LIST_H
#define REPORT_FIGURE_LIST_H

#include "stream/metric.h"

#include <stdbool.h>

enum figure_kind {
	FIGURE_MEAN, /* of the values of requests */
	FIGURE_PERCENTILE,
	FIGURE_GAPS_MEAN, /* of the gaps of all requests */
	FIGURE_GAPS,      /* a percentile of them */
	FIGURE_REQUESTS,  /* per second; the same for the next three */
	FIGURE_OUTPUT,
	FIGURE_INPUTS,
	FIGURE_GOOD,
	FIGURE_FAILURES, /* a share; the same for the next */
	FIGURE_VALID,    /* outputs of those that were checked */
	FIGURE_CACHED,   /* input tokens that the server reports as cached */
	FIGURE_REFUSED,  /* requests that were refused at least once */
};

struct compared_figure {
	const char *name;    /* "ttft.p99": in JSON and --fail-if */
	const char *measure; /* "ttft": what several figures are of */
	const char *label;   /* "TTFT p99" */
	const char *unit;    /* "ms", "per s"; "": a share */
	enum figure_kind kind;
	enum metric metric; /* of requests: what the mean or percentile is of; METRIC_COUNT */
	double percentile;
	bool lower_is_better;
	bool repeated;
};

enum { COMPARED_FIGURES = 32 };
extern const struct compared_figure compared_figures[COMPARED_FIGURES];

static inline bool figure_is_share(const struct compared_figure *figure)
{
	return figure->kind == FIGURE_FAILURES || figure->kind == FIGURE_VALID || figure->kind == FIGURE_REFUSED ||
	       figure->kind == FIGURE_CACHED;
}

#endif
