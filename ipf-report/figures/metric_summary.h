/* A distribution as reports show it: moments and percentiles of one metric. */
#ifndef REPORT_DIST_H
#define REPORT_DIST_H

#include "error.h"
#include "stats/histogram.h"
#include "stats/stats.h"

#include <stdbool.h>
#include <stdint.h>

enum { PERCENTILES_MOST = 24 };

/* Which percentiles are shown, increasing. */
struct percentiles {
	double p[PERCENTILES_MOST];
	int count;
	bool chosen; /* by --percentiles */
};

/* p1 5 10 25 50 75 90 95 99 99.9 */
void percentiles_default(struct percentiles *list);
/* "50,90,99.9", also "p50,p90"; IPF_USAGE with the offending item. */
int percentiles_parse(struct percentiles *list, const char *text, struct ipf_error *err);
/* "p50", "p99.9" */
const char *percentile_name(double p, char text[24]);

/* All figures in the unit of the samples times `scale`; those that do not exist are NAN, INFINITY where failures reach
 * into a percentile (--errors-as-inf). n == 0: there is nothing to show. */
struct metric_summary {
	int64_t n;
	double mean, std, min, max;
	double at[PERCENTILES_MOST]; /* as in the list */
	double low, high;            /* 95 % confidence interval of the mean; NAN */
};

/* Of samples in the order of arrival (sorted afterwards); `infinite` more of them lie beyond every number. */
void metric_summary_of_samples(struct metric_summary *d, struct samples *s, int64_t infinite, double scale,
                               const struct percentiles *list);
void metric_summary_of_histogram(struct metric_summary *d, const struct histogram *h, double scale,
                                 const struct percentiles *list);

/* The percentile of a sorted set with `infinite` more samples at infinity; NAN where there are none at all. */
double percentile_with_infinite(struct samples *s, int64_t infinite, double p);

/* Are there samples enough to show this percentile in full strength? */
bool percentile_is_firm(int64_t n, double p);

#endif
