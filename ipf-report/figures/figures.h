/* A block: all figures of one stage, of the total, or of one model or target in them. What does not exist is NAN,
 * IPF_ABSENT or a distribution with n = 0. Times are in milliseconds, rates per second.
 */
#ifndef REPORT_BLOCKS_H
#define REPORT_BLOCKS_H

#include "figures/metric_summary.h"
#include "results/run_data.h"

enum window_kind {
	WINDOW_STAGE, /* the measured part of the stage */
	WINDOW_DRAIN, /* until its last request has ended */
};

struct figure_options {
	struct percentiles percentiles;
	int window; /* enum window_kind: the time that rates refer to */
	bool errors_as_inf;
	bool by[GROUPINGS]; /* these as well */
};

/* Two counts of the same tokens, side by side: a − b over the requests that have both. */
struct residual {
	const char *name;
	int64_t n;
	double mean, min, max;
	double share; /* sum of the differences by the sum of b */
};
enum {
	OUTPUT_USAGE_TOKENIZER,
	OUTPUT_USAGE_EVENTS,
	OUTPUT_TOKENIZER_EVENTS,
	INPUT_USAGE_TOKENIZER,
	INPUT_ASKED,
	OUTPUT_ASKED,
	RESIDUALS,
};

struct attainment {
	double share;    /* of the requests: those that met a per-request objective */
	double value_ms; /* a p-objective's percentile */
	bool met;
};

struct figures {
	const char *name, *kind;
	bool measured, total;
	double window_s;
	int64_t scheduled, started, ok, failed, hung_up, cut, cancelled, stale, errors[VERDICT_KINDS];
	double offered, achieved, completed;
	double input_per_s, output_per_s, total_per_s;
	double in_flight_mean, in_flight_max, little;
	struct metric_summary start[METRIC_COUNT],
		due[METRIC_COUNT]; /* milliseconds; `due` where the metric counts from the start */
	struct metric_summary itl;
	struct metric_summary input, output, reasoning, asked_input, asked_output;
	int64_t input_total, output_total;
	int64_t by_source[SOURCES];
	int64_t *by_finish; /* as run->finishes */
	struct residual residuals[RESIDUALS];
	double cached_share;
	int64_t events, coalesced, stalls, stalled; /* stalled: requests with at least one */
	int64_t deadlines, deadlines_met;           /* fluidity; 0: not measured */
	int64_t judged, good;                       /* requests with objectives; those that met them all */
	int64_t left_out;                           /* those with objectives on which ipf-fire hung up; not in `judged` */
	double goodput;
	struct attainment objectives[OBJECTIVES_MOST];
	/* ok, failed (cut and cancelled are of these) and hung_up are all that have a row */
	struct figures *groups[GROUPINGS]; /* where they were asked for, one for each of run->groups */

	/* what the total is made of */
	int64_t length_ns, window_ns, offered_n, achieved_n, achieved_ns;
	double flight_ns; /* integral of the requests in flight */
	double busy_ns;   /* times of those that ended in the window, of whatever stage */
	bool has_length;
};

struct run_figures {
	struct figures *stages;
	size_t count;
	struct figures total;
	int group_counts[GROUPINGS]; /* of each block's groups, where there are any */
};

/* How many requests it is about. */
int64_t figures_requests(const struct figures *b);

int run_figures_build(struct run_figures *figures, const struct run_data *run, const struct figure_options *options,
                      struct ipf_error *err);
void run_figures_release(struct run_figures *figures);

#endif
