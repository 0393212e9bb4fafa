/* The distribution of one metric as reports show it: moments and percentiles. */
#ifndef REPORT_METRIC_SUMMARY_H
#define REPORT_METRIC_SUMMARY_H

#include "error.h"
#include "stats/histogram.h"
#include "figures/percentile_limits.h"
#include "stats/samples.h"

#include <stdbool.h>
#include <stdint.h>

enum { PERCENTILES_MOST = 24 };

/* The percentiles to show, increasing. */
struct percentiles {
	double p[PERCENTILES_MOST];
	int count;
	bool chosen; /* by --percentiles */
};

/* 1, 5, 10, 25, 50, 75, 90, 95, 99 and 99.9. */
void percentiles_default(struct percentiles *list);
/* Parses "50,90,99.9" or "p50,p90". IPF_USAGE, with the invalid item. */
int percentiles_parse(struct percentiles *list, const char *text, struct ipf_error *err);
/* "p50", "p99.9" */
const char *percentile_name(double p, char text[24]);

/* Figures are in the unit of the samples times `scale`. An absent figure is NAN; one reached by infinite samples
 * (--errors-as-inf) is INFINITY. n == 0: there are no samples; IPF_ABSENT: another tool states the figures, and not of
 * how many samples. */
struct metric_summary {
	int64_t n;
	double mean, std, min, max;
	double median, p90, p99;     /* set if the list does not have them too */
	double at[PERCENTILES_MOST]; /* for each percentile of the list */
	double n_eff;                /* effective sample size for the mean; NAN */
	double low, high;            /* 95 % confidence interval of the mean; NAN */
	/* For each percentile of the list; NULL: not known. Borrowed. */
	const struct percentile_limits *limits;
};

/* Summarises samples in the order of arrival, which it sorts, and `infinite` more samples at infinity. */
void metric_summary_of_samples(struct metric_summary *d, struct samples *s, int64_t infinite, double scale,
                               const struct percentiles *list);
/* The same, and the limits of the percentiles of the list, which go to `limits`, which must outlive `d`. -1: out of
 * memory. */
int metric_summary_with_limits(struct metric_summary *d, struct samples *s, double scale,
                               const struct percentiles *list, struct percentile_limits limits[PERCENTILES_MOST]);
void metric_summary_of_histogram(struct metric_summary *d, const struct histogram *h, double scale,
                                 const struct percentiles *list);

/* A percentile of the samples, which it sorts, and `infinite` more at infinity; NAN if there are no samples. */
double percentile_with_infinite(struct samples *s, int64_t infinite, double p);

/* Are n samples enough for this percentile, at 99 % confidence (samples_needed)? Yes if n is not known. */
bool percentile_is_firm(int64_t n, double p);

#endif
