/* The latencies that production recorded, held against those of the replay: the same requests on both sides.
 *
 *     struct reference ref;
 *     reference_find(&ref, &workload, &run, &percentiles, &err);
 *     if (ref.given) … ref.latencies[REFERENCE_TTFT].replayed.median …
 *
 * A pair is a request of the trace with a recorded latency and its first successful answer in a measured stage. The
 * replayed latency counts from the start of the request, as the recorded one does. Both distributions are those of the
 * pairs. Differences of their figures are judged as by `ipf-report compare`, with both sides of one schedule
 * (difference/difference.h). The median over the pairs has the interval of a percentile (figures/percentile_limits.h).
 *
 * TPOT is (E2E - TTFT) / (output tokens - 1) on both sides, with the tokens of the trace and those measured.
 */
#ifndef REPORT_REFERENCE_H
#define REPORT_REFERENCE_H

#include "difference/figure_difference.h"
#include "figures/metric_summary.h"
#include "results/workload.h"

enum reference_latency { REFERENCE_TTFT, REFERENCE_E2E, REFERENCE_TPOT, REFERENCE_LATENCIES };
extern const enum metric reference_metrics[REFERENCE_LATENCIES];

/* The median over the pairs, and its 95 % interval; NAN: not known. */
struct reference_median {
	double median, low, high;
};

struct reference_pairs {
	int64_t count;
	struct metric_summary recorded, replayed;     /* milliseconds */
	struct reference_median ratio, difference_ms; /* replayed / recorded; replayed - recorded */
};

/* A value of the load on both sides, over the same requests. */
struct reference_load {
	int64_t requests; /* for which both sides are known */
	double recorded, replayed;
};

/* Mean, p50, p90 and p99 of each latency. */
enum { REFERENCE_FIGURES = 4 * REFERENCE_LATENCIES };

struct reference {
	bool given; /* the trace has recorded latencies */
	/* requests of the trace */
	int64_t of_trace;
	int64_t run;        /* started in a measured stage */
	int64_t unrecorded; /* run, without recorded latencies */
	int64_t compared;   /* run and answered, with recorded latencies */
	int64_t failed;     /* run with recorded latencies, without a complete answer; in no latency */
	int64_t hung_up;    /* the same, since the client disconnected */
	int64_t repeats;    /* starts of requests beyond the first answer: in no latency */
	struct reference_pairs latencies[REFERENCE_LATENCIES];
	struct figure_difference figures[REFERENCE_FIGURES]; /* those both sides have; of_runs is not set */
	size_t count;
	enum outcome outcome;
	/* the load: requests per second, and tokens of a request on average */
	struct reference_load rate, input, output;
	int64_t hang_ups[SIDES]; /* clients that disconnected, of the requests run */
};

/* Fails only when memory runs out. */
int reference_find(struct reference *ref, const struct workload *w, const struct run_data *run,
                   const struct percentiles *percentiles, struct ipf_error *err);

#endif
