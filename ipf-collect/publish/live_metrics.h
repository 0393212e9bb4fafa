/* The figures of a run so far, for whoever watches it from outside: written by the thread writing the rows, read by the
 * threads publishing them.
 *
 *     struct live_metrics *m = live_metrics_new();
 *     live_metrics_begin_input(m, header, &schedule);
 *     live_metrics_row(m, &observation);
 *     …
 *     struct live_figures figures = {0};            // of another thread
 *     if (live_metrics_read(m, &figures) < 0) …     // out of memory
 *     live_figures_walk(&figures, &sink);
 *     live_figures_release(&figures);
 *
 * A row takes the lock once, for the time its figures need; a reader holds it for one copy, a fraction of a
 * millisecond. Slow steps (rendering, networks) work on the copy. ipf-metrics(5) describes every metric.
 *
 * Memory: 65 kB for each of at most LIVE_STAGES stages; the stages after these share one, "other".
 */
#ifndef COLLECT_LIVE_METRICS_H
#define COLLECT_LIVE_METRICS_H

#include "measure/observation.h"
#include "metrics/live_histogram.h"
#include "metrics/metric_sink.h"
#include "stream/schedule.h"
#include "verdict/verdict.h"

enum { LIVE_STAGES = 32 };
enum { LIVE_OK = VERDICT_KINDS, LIVE_OUTCOMES }; /* outcomes: the error kinds of verdict.h, and "ok" */
enum live_latency { LIVE_TTFT, LIVE_ITL, LIVE_E2E, LIVE_LAG, LIVE_LATENCIES };

#define LIVE_TEXT 128 /* bytes of a label's value */

struct live_stage {
	char name[LIVE_TEXT];
	int64_t scheduled; /* requests; IPF_ABSENT: the schedule does not say */
	int64_t outcomes[LIVE_OUTCOMES];
	int64_t input_tokens, reasoning_tokens, cached_tokens; /* IPF_ABSENT: no row had them */
	int64_t output_tokens, failed_output_tokens;
	int64_t events, coalesced, stalls;
	struct live_histogram latencies[LIVE_LATENCIES];
};

/* The client's figures about itself; absent before its first line. */
struct live_client {
	int64_t in_flight, waiting, due, started, bytes;
	double busiest; /* share of a core its busiest sending thread used, NAN */
};

struct live_figures {
	struct live_stage **stages;
	size_t stages_count, stages_cap;
	char run[LIVE_TEXT], model[LIVE_TEXT], target[LIVE_TEXT], api[LIVE_TEXT]; /* "": unknown */
	char predicted[LIVE_TEXT]; /* by which twin; "": the run is measured */
	int64_t start_unix_ns;     /* the run's; IPF_ABSENT */
	int64_t run_ns;            /* the latest end of a request; IPF_ABSENT before the first */
	int64_t rows_started;      /* requests with a started row */
	struct live_client client;
	bool judged[VERDICT_QUESTIONS];
	enum verdict_status verdict[VERDICT_QUESTIONS];
	bool finished; /* all records were read */
};

struct live_metrics;

struct live_metrics *live_metrics_new(void); /* NULL: out of memory */
void live_metrics_free(struct live_metrics *m);

/* An input begins: its header, and its schedule (empty: unknown). `shared`: the inputs are of clients of one schedule,
 * so its requests count once. -1: out of memory. */
int live_metrics_begin_input(struct live_metrics *m, const json_t *header, const struct schedule *schedule,
                             bool shared);
void live_metrics_row(struct live_metrics *m, const struct observation *seen);
/* A `client` line as ipf-fire wrote it; a malformed one is ignored. */
void live_metrics_client(struct live_metrics *m, struct slice client);
/* Judges the run so far by its verdict, at most once a second: call it as often as you like. Whether the load was
 * delivered is not known before the end, because the rest of the schedule was not yet due. */
void live_metrics_judge(struct live_metrics *m, struct verdict *verdict, int64_t now_ns);
/* The run's end, with its verdict. */
void live_metrics_finish(struct live_metrics *m, const struct verdict_finding *verdict);

/* Copies the figures to `into`, whose memory is reused. -1: out of memory; `into` can be read no further. */
int live_metrics_read(struct live_metrics *m, struct live_figures *into);
void live_figures_release(struct live_figures *figures);
/* Tells the sink all metrics. */
void live_figures_walk(const struct live_figures *figures, struct metric_sink *sink);

#endif
