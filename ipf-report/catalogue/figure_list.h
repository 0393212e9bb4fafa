/* The figures of a run held against those of other runs, in the order in which they are shown: all of them by
 * `ipf-report compare`, those `repeated` among the repeats of a run. */
#ifndef REPORT_FIGURE_LIST_H
#define REPORT_FIGURE_LIST_H

#include "stream/metric.h"

#include <stdbool.h>

enum figure_kind {
	FIGURE_MEAN, /* over the values of requests */
	FIGURE_PERCENTILE,
	FIGURE_GAPS_MEAN, /* over the gaps of all requests */
	FIGURE_GAPS,      /* a percentile of them */
	FIGURE_REQUESTS,  /* per second; the same for the next three */
	FIGURE_OUTPUT,
	FIGURE_INPUTS,
	FIGURE_GOOD,
	FIGURE_FAILURES, /* a share; the same for the next */
	FIGURE_VALID,    /* checked outputs */
	FIGURE_CACHED,   /* input tokens the server reports as cached */
	FIGURE_REFUSED,  /* requests refused at least once */
};

struct compared_figure {
	const char *name;    /* "ttft.p99": in JSON and --fail-if */
	const char *measure; /* "ttft": the common base of several figures */
	const char *label;   /* "TTFT p99" */
	const char *unit;    /* "ms", "per s"; "": a share */
	enum figure_kind kind;
	enum metric metric; /* the metric of requests for a mean or percentile; METRIC_COUNT */
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
