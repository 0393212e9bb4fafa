/* A figure of each request by the definition of another tool, and its distribution by that tool's rules.
 *
 *     static double tpot(const struct row *row) { … }              // ns; NAN: this request has none
 *
 *     struct row_values v;
 *     row_values_of(&v, &load, LOAD_OK, tpot, 1e6);                // in ms
 *     jout_member_double(w, "mean_tpot_ms", v.mean);
 *     jout_member_double(w, "p99_tpot_ms", row_values_percentile(&v, 99));
 *     row_values_release(&v);
 *
 * A value no request has is NAN everywhere, also in a mean: some tools write 0 there, which is no measurement.
 */
#ifndef REPORT_ROW_VALUES_H
#define REPORT_ROW_VALUES_H

#include "exports/load.h"

struct row_values {
	int64_t n;
	double sum; /* 0 if there are none */
	double mean, min, max;
	double std, sample_std; /* the population's, and a sample's (n - 1); NAN for one value */
	struct samples list;    /* empty for gaps */
	struct histogram *gaps;
	double per;
	const struct tool_rules *rules; /* NULL: ipf's */
};

enum load_part { LOAD_OK, LOAD_FAILED, LOAD_SENT };

/* The value of a row; NAN: it has none. */
typedef double (*row_value)(const struct row *row);

/* The values of those rows, each divided by `per`. */
void row_values_of(struct row_values *v, const struct load *load, enum load_part which, row_value value, double per);
/* The gaps between the content events of the successful requests, pooled; to within 0.1 %. None if the results were
 * collected with another --itl. */
void row_values_of_gaps(struct row_values *v, const struct load *load, double per);
void row_values_release(struct row_values *v);

/* p in 0 … 100, by the rule of the tool: linear interpolation between order statistics, NumPy's default, or an order
 * statistic. */
double row_values_percentile(struct row_values *v, double p);

/* In ns; NAN: absent. In the view of a tool (other_tools/tool_view.h) by its definitions, else by ipf's. */
double row_ttft(const struct row *row);
double row_e2e(const struct row *row);  /* ipf's: to the last content event */
double row_tpot(const struct row *row); /* ipf's: (e2e - ttft) / (output tokens - 1) */
double row_itl(const struct row *row);  /* (last chunk - first chunk) / (output tokens - 1) */
double row_output(const struct row *row);
/* Values with the same definition for all. */
double row_last(const struct row *row);   /* the last counted chunk */
double row_stream(const struct row *row); /* the end of the response */
double row_waited(const struct row *row); /* from when it was due to its start, if latencies count from then; else 0 */
double row_input(const struct row *row);  /* tokens */
double row_metric(const struct row *row, enum metric m);
/* The value an objective on this metric is compared with: a latency by the tool's definition. */
double row_asked(const struct row *row, enum metric m);

#endif
