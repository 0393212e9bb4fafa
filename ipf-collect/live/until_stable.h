/* --until-stable: when are throughput and latency steady enough to end the run?
 *
 *     struct until_stable_rule rule;
 *     until_stable_parse("5%,windows=3,window=10s", &rule, &err);
 *     struct until_stable *u = until_stable_new(&rule, &schedule);
 *     if (until_stable_row(u, &row)) …                 // each row, in the order of the records: true: stop
 *     if (until_stable_client(u, line)) …              // each client line: time passes also while no request ends
 *     const struct stable_finding *f = until_stable_finding(u);
 *     until_stable_free(u);
 *
 * The rule of perf_analyzer, the load generator of Triton (--stability-percentage, --measurement-interval; as of
 * December 2025, src/inference_profiler.cc, DetermineStability): time is divided into windows; throughput is the number
 * of requests ending in a window, latency the mean of their latencies; the run is stable when, over the last N windows,
 * the highest of each is at most 1 + X times the lowest, and no window is empty. Here latency is e2e, and only
 * successful requests of measured stages count.
 *
 * It alone calls a server stable whose throughput falls by 2 % in each of three windows: they are within 5 %. So the
 * drift is looked at, too: the least-squares line through throughput and through latency (stats/trend.h), each window
 * divided into up to ten parts, over as many of the last windows as are within X of each other, N at least. The drift
 * over the time of N windows must be below X with a confidence of 99.9 %: its estimate plus its error. Noise is no
 * drift, but the more there is, the more windows it takes to exclude one.
 *
 * Windows count from the first known start of the stage, on the clock of the records: the times of rows and client
 * lines, in their order. A request appears in the records when it ends, so a window of ended requests can only change
 * while the recorder of ipf-fire lags behind: it is judged at the first line later than its end by a tenth of a window.
 * Still later rows count in later judgements. The same records always give the same answer at the same line, live or
 * from a file.
 */
#ifndef COLLECT_UNTIL_STABLE_H
#define COLLECT_UNTIL_STABLE_H

#include "buffer.h"
#include "error.h"
#include "stream/result.h"
#include "stream/schedule.h"

#include <jansson.h>

enum { UNTIL_STABLE_WINDOWS_MOST = 16 }; /* windows that must agree */

struct until_stable_rule {
	const char *text; /* as given, borrowed; NULL: no such rule */
	double tolerance; /* 0.05 */
	int64_t windows;  /* that must agree: 2 to UNTIL_STABLE_WINDOWS_MOST */
	int64_t window_ns;
};

/* "5%", or with ",windows=3" and ",window=10s", which are the defaults. -1: IPF_USAGE. */
int until_stable_parse(const char *text, struct until_stable_rule *rule, struct ipf_error *err);

struct stable_finding {
	bool stable;
	int64_t stage;                                /* the window looked at last; IPF_ABSENT: no measured request ended */
	int64_t at_ns;                                /* the time of the line at which it was found; IPF_ABSENT */
	int64_t from_ns, to_ns;                       /* agreeing windows, or the last ones; IPF_ABSENT */
	double throughput[UNTIL_STABLE_WINDOWS_MOST]; /* successful requests per second in each */
	double latency_ns[UNTIL_STABLE_WINDOWS_MOST]; /* their mean e2e; NAN: none */
	int64_t judged;                               /* windows the drift was looked for in; 0: not */
	double throughput_drift, latency_drift;       /* the most it can be over the time of N windows; NAN */
	char why_not[160];                            /* "" if stable: why the last windows do not agree */
};

struct until_stable;

/* The schedule (borrowed) says which stages are measured; without stages, all are. NULL: out of memory. */
struct until_stable *until_stable_new(const struct until_stable_rule *rule, const struct schedule *schedule);
void until_stable_free(struct until_stable *u); /* NULL is fine */

/* Is the run stable? Once it is, it remains so, and nothing following counts. Without a rule (NULL), it never is. */
bool until_stable_row(struct until_stable *u, const struct result *row);
bool until_stable_time(struct until_stable *u, int64_t t_ns);
/* The same for the time of a client line, as ipf-fire wrote it. */
bool until_stable_client(struct until_stable *u, struct slice line);
/* The current answer; NULL without a rule. */
const struct stable_finding *until_stable_finding(const struct until_stable *u);
/* As in the trailer, see ipf-results(5): {"stage", "tolerance", …}; new. NULL: out of memory. */
json_t *until_stable_json(const struct until_stable *u);
/* Appends such as "stable from 10 s to 40 s: throughput within 1.2 %, latency within 0.8 % over 3 windows of 10 s". */
void until_stable_describe(const struct until_stable *u, struct buffer *out);

#endif
