/* Sends the figures of a run to Pushgateways and receivers of remote write, and a span for each request to a receiver
 * of OTLP/HTTP, in a thread of its own: once every interval and at the end.
 *
 *     struct push *push;
 *     if (push_start(&push, &options, metrics, &err) < 0) …
 *     …
 *     push_span(push, &observation);
 *     push_finish(push, 10 * NS_PER_S);           // sends what is left
 *     json_array_append_new(list, …push_json(push, i));
 *     push_free(push);
 *
 * A target that hangs, refuses or fails never delays the run. A Pushgateway needs only the latest figures, so nothing
 * is queued. For remote write, requests wait in a queue of limited size until the target takes them; the oldest is
 * dropped for a new one, and counted. A push failing for a passing reason (no connection, a time-out, status 429 or
 * 5xx) is sent again, a limited number of times, after a pause that doubles and is at least Retry-After's; any other
 * status is final. A target refusing native histograms gets no more of them.
 *
 * Spans wait in a queue, too (otlp_batches.h). A batch is sent when it is complete, and an incomplete one at each
 * interval. Batches are sent again after the statuses 429, 502, 503 and 504, as the specification of OTLP says.
 */
#ifndef COLLECT_PUSH_H
#define COLLECT_PUSH_H

#include "error.h"
#include "publish/live_metrics.h"
#include "publish/otlp_run.h"
#include "push/push_target.h"

#include <jansson.h>

/* The longest wait of push_finish for a target taking spans. */
#define PUSH_SPANS_MOST_NS (INT64_C(60) * 1000 * 1000 * 1000)

struct push_options {
	struct push_figures figures;
	const char *otlp; /* URL; NULL: no spans */
	struct push_key otlp_key;
	int64_t every_ns;
};

/* Whether the options are right, without sending anything: IPF_USAGE, or an unreadable key. */
int push_check(const struct push_options *options, struct ipf_error *err);

struct push;

/* The thread waits for push_begin; until then nothing is sent. `options` and `metrics` must outlive it. */
int push_start(struct push **push, const struct push_options *options, struct live_metrics *metrics,
               struct ipf_error *err);
/* The run's name is known, "" if it has none: sends from now on. */
void push_begin(struct push *push, const char *run);
/* Spans come from this input from now on; nothing without a target for them. `live`: while its run lasts, so push_span
 * must not wait for the target. `schedule` and `api` must outlive it. -1 as for otlp_run_new. */
int push_begin_spans(struct push *push, const json_t *header, const struct schedule *schedule, const struct api *api,
                     bool live, struct ipf_error *err);
void push_span(struct push *push, const struct observation *seen);
/* Sends the figures a last time, and the remaining spans, and ends the thread: after at most this time, but as long as
 * a target takes spans, this time after the last one and at most PUSH_SPANS_MOST_NS. */
void push_finish(struct push *push, int64_t wait_ns);
void push_free(struct push *push); /* NULL is fine; ends a running thread */

/* After push_finish: the outcome for each target, {"push", "kind", "sent", "failed", …} or {"otlp", "sent", "failed",
 * …}; new. NULL: out of memory. */
json_t *push_json(const struct push *push, size_t target);
size_t push_count(const struct push *push);
/* From any thread: appends a line describing the first failure of a target, or how many spans were not delivered in the
 * end, if it was not reported yet. False: there is none. */
bool push_take_notice(struct push *push, struct buffer *line);

#endif
