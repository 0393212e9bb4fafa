/* Where the time of typical and of the slowest requests went, and over the run, by a twin of the server.
 *
 *     struct why_findings found = {.twin = "server.json"};
 *     if (why_findings_build(&found, &twin, &run, workload, &err) == 0 && found.absent.kind == IPF_OK)
 *         … found.total.at[WHY_TTFT][WHY_P99].ms[WHY_QUEUE] …
 *     why_findings_release(&found);
 */
#ifndef TWIN_WHY_FINDINGS_H
#define TWIN_WHY_FINDINGS_H

#include "why/twin_why.h"

/* A twin whose median is further off than this does not describe the run. */
#define WHY_ERROR_MOST 0.25

enum why_percentile { WHY_P50, WHY_P99, WHY_PERCENTILES };
extern const char *const why_percentile_names[WHY_PERCENTILES]; /* "p50", "p99" */

enum { WHY_WORST = 5 };
/* The requests around a percentile, on average: from p45 to p55; above p98. Or all starting in an interval. Times in
 * ms. */
struct why_group {
	int64_t requests;
	double measured, slot; /* slot: their wait for a slot of the client before their start */
	double ms[WHY_PARTS];
	double others[WHY_LATENCIES]; /* as of struct why_request; NAN */
	struct {
		int64_t n;
		double ms, part_ms;
		enum why_part part; /* the greatest one */
	} worst[WHY_WORST];     /* for p99: the slowest first */
	int worst_count;
};

struct why_block {
	int64_t requests;
	struct why_group at[WHY_LATENCIES][WHY_PERCENTILES];
};

enum { WHY_INTERVALS = 40 };
/* Requests starting from from_ns on, in [from_ns, from_ns + every_ns): on the clock of their part of the run. */
struct why_interval {
	int64_t from_ns;
	struct why_group of[WHY_LATENCIES];
};

struct why_findings {
	struct ipf_error absent;      /* why nothing is known; IPF_OK: it is */
	const char *twin;             /* the name of its file; set by the caller; borrowed */
	int64_t left_out;             /* successful requests of measured stages of which not all is known that is needed */
	double errors[WHY_LATENCIES]; /* predicted / measured - 1, at the median of the measured stages; NAN */
	bool describes;               /* both are within WHY_ERROR_MOST */
	struct why_block total, *stages; /* stages: of each one of the run; without requests unless it is measured */
	size_t stage_count;
	/* For measured stages: intervals of 1, 2 or 5 ms, 10, 20 or 50 … in which a request started; at most WHY_INTERVALS.
	 */
	struct why_interval *over_time;
	int interval_count;
	int64_t every_ns;
};

/* The greatest part; the unexplained one counts by its size. */
enum why_part why_greatest(const double ms[WHY_PARTS]);

/* `workload` may be NULL. -1: out of memory. */
int why_findings_build(struct why_findings *found, const struct twin *twin, const struct run_data *run,
                       const struct workload *workload, struct ipf_error *err);
void why_findings_release(struct why_findings *found);

#endif
