/* How much the repeats of a run differ: several results of one schedule that ran one after another.
 *
 *     struct repeats r;
 *     repeats_build(&r, &run, &options, &err);
 *     for (size_t i = 0; i < r.count; i++) … r.figures[i].mean, .low, .high …      // count 0: the run has no repeats
 *     repeats_release(&r);
 *
 * Each figure is every run's own, as a report of it shows. The mean over the runs has a 95 % interval by Student's t:
 * it holds whatever made runs differ, unlike an interval from the requests of one run. It is not the figure of the
 * pooled runs, which the report shows elsewhere: there, percentiles are not averaged.
 */
#ifndef REPORT_REPEATS_H
#define REPORT_REPEATS_H

#include "catalogue/figure_list.h"
#include "figures/figures.h"
#include "results/run_data.h"

enum { REPEATED_FIGURES = COMPARED_FIGURES }; /* at most */

/* A run is an outlier of a figure if it is further from the mean of all runs than of normal variables the furthest one
 * would be in one of twenty reports: F. E. Grubbs, "Procedures for Detecting Outlying Observations in Samples",
 * Technometrics 11(1), 1969, two-sided, at this level divided by the number of figures. If two outliers lie together,
 * it may find none. At least this many runs are needed. */
#define REPEATS_OUTLIER 0.05
enum { REPEATS_FOR_OUTLIERS = 4 };

struct repeated_figure {
	const char *name;  /* "ttft.p50", as in a comparison */
	const char *label; /* "TTFT p50" */
	const char *unit;  /* "ms", "per s"; "": a share */
	double *of_runs;   /* NAN: the run does not have it */
	int runs;          /* with it: at least 2 */
	double mean, std;  /* std: of a sample, n - 1 */
	double low, high;  /* 95 % interval of the mean, cut at 0, and of a share at 1 */
	int least, most;   /* the runs with the lowest and the highest value, from 0 */
	int outlier;       /* the run; -1: none */
};

struct repeats {
	struct repeated_figure figures[REPEATED_FIGURES];
	size_t count;
	int runs;
	bool one_schedule; /* all of them had the same requests at the same times */
};

/* Without rows (figures that another tool states), of shards, and of runs with requests of the same records, there is
 * nothing: count is 0. Fails only when memory runs out. */
int repeats_build(struct repeats *r, const struct run_data *run, const struct figure_options *options,
                  struct ipf_error *err);
void repeats_release(struct repeats *r);

/* The distance from the mean, in standard deviations, above which one of n values is an outlier at this level. */
double repeats_critical(int n, double level);

#endif
