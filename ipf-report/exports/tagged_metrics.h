/* Common to AIPerf and its predecessor genai-perf: metrics by tag, each with a unit, of which those of requests have a
 * distribution and those of a run have one value; as JSON and as CSV.
 *
 *     struct tagged_metric metrics[TAGGED_MOST];
 *     int count = …;                                   // fills tag, title, unit, and values or value
 *     tagged_metrics_json(w, metrics, count, …);
 *     tagged_metrics_release(metrics, count);
 */
#ifndef REPORT_TAGGED_METRICS_H
#define REPORT_TAGGED_METRICS_H

#include "exports/row_values.h"
#include "json/jout.h"

enum { TAGGED_MOST = 40 };

struct tagged_metric {
	const char *tag, *title, *unit;
	bool each;                /* per request: `values`; else per run: `value` */
	struct row_values values; /* none: the metric does not exist */
	double value;             /* NAN: it does not exist */
};

struct tagged_metrics {
	const struct load *load;
	struct tagged_metric list[TAGGED_MOST];
	int count;
};

void tagged_add(struct tagged_metrics *m, const char *tag, const char *title, const char *unit, enum load_part which,
                row_value value);
/* Values in ms instead of ns. */
void tagged_add_ms(struct tagged_metrics *m, const char *tag, const char *title, row_value ns);
void tagged_add_gaps(struct tagged_metrics *m, const char *tag, const char *title);
void tagged_add_one(struct tagged_metrics *m, const char *tag, const char *title, const char *unit, double value);
void tagged_metrics_release(struct tagged_metrics *m);

/* Members {"unit", "avg", "p1", …}; `sums`: also "count" and "sum". */
void tagged_metrics_json(const struct tagged_metrics *m, struct jout *w, bool sums);
/* How a tool writes its CSV. */
struct tagged_csv {
	const char *const *statistics; /* the columns of metrics of requests; NULL ends them */
	const char *bare_unit;         /* a unit not written behind the name; NULL: none */
	bool empty;                    /* absent metrics have a line too, with N/A */
	bool thousands;                /* commas between thousands, for which the field is quoted */
};
/* A table: metrics of requests with their statistics, or those of a run with a "Value". Two decimals. */
void tagged_metrics_csv(struct tagged_metrics *m, const struct tagged_csv *form, struct buffer *out);
/* One of "avg", "min", "max", "sum", "std", "p1" …; NAN. */
double tagged_statistic(struct tagged_metric *metric, const char *name);

/* The successes meeting all objectives, from start; one without a value for an objective does not. NAN: there are no
 * objectives, or others than of ttft, ttst, tpot and e2e. */
double load_good_with_values(const struct load *load);

#endif
