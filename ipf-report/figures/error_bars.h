/* How exact the latencies are: the two values each figure lies between, given the client's own effects on it.
 * "ACCURACY" in ipf-results(5) has the definition: of each request the least and the most its latency can be; the bar
 * of a percentile is that percentile of the least and of the most, and the bar of a mean is their mean. Those of a run
 * predicted have the error of the twin, too (model_error.h).
 *
 *     struct run_accuracy accuracy;
 *     run_accuracy_build(&accuracy, &run, &figures, &options, &err);
 *     accuracy.total.bars[BAR_TTFT].low.p99 …                       // n = 0: not known
 *     run_accuracy_release(&accuracy);
 */
#ifndef REPORT_ERROR_BARS_H
#define REPORT_ERROR_BARS_H

#include "figures/figures.h"

enum bar { BAR_TTFT, BAR_TTFT_DUE, BAR_ITL, BAR_TPOT, BAR_E2E, BAR_E2E_DUE, ERROR_BARS };

struct bar_spec {
	const char *json;    /* "ttft_ms" */
	const char *version; /* "from_start", "from_due"; NULL: there is one only */
	const char *label;   /* "TTFT" */
};
extern const struct bar_spec bar_specs[ERROR_BARS];

/* The limit between our clock and that of the kernel's timestamps: later ones are rejected. */
#define BAR_CLOCK_NS 1000
/* A value read from a histogram of gaps is right to this share. */
#define BAR_BUCKET (1.0 / 1024)

/* In milliseconds, for every figure of the summary a latency has but the standard deviation, the interval and n_eff. n
 * = 0: not known. */
struct error_bar {
	struct metric_summary low, high;
};

struct accuracy {
	struct error_bar bars[ERROR_BARS];
};

struct run_accuracy {
	struct accuracy *stages; /* as many as the run's figures have */
	struct accuracy total;
	bool known;      /* the total's, at least one */
	double limit_ms; /* --accuracy; NAN: none */
	int missed;      /* figures of the total that are less exact, or not known to be as exact */
	char worst[400]; /* the first few of them, in words; "": all are exact enough */
};

/* `limit_ns` is --accuracy's, IPF_ABSENT: none; an error beyond it makes the verdict's client_headroom DOUBTFUL. */
int run_accuracy_build(struct run_accuracy *a, const struct run_data *run, const struct run_figures *figures,
                       const struct figure_options *options, int64_t limit_ns, struct ipf_error *err);
void run_accuracy_release(struct run_accuracy *a);

/* The latency a bar is of. */
const struct metric_summary *bar_summary(const struct figures *f, enum bar bar);
/* The larger of the distances of a figure from the ends of its bar, for each figure. n = 0: not known. */
struct metric_summary bar_widths(const struct error_bar *bar, const struct metric_summary *of);

/* ---- the errors of one request ---- */

/* In nanoseconds. */
struct row_errors {
	int64_t sending;     /* until it was on its way */
	int64_t first, last; /* by which the first and the last content event may have come earlier */
	int64_t lateness;    /* by which the client started it late */
	bool known;
};

struct row_errors row_errors_of(const struct run_data *run, const struct row *row);

#endif
