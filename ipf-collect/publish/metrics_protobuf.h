/* The protobuf exposition format of Prometheus: io.prometheus.client.MetricFamily messages (client_model 0.3), each
 * after its length. Its histograms have the classic buckets and the native ones.
 *
 *     struct metrics_protobuf families = metrics_protobuf(&out);
 *     live_figures_walk(&figures, &families.sink);
 *
 * Memory running out shows in the buffer's `failed`.
 */
#ifndef COLLECT_METRICS_PROTOBUF_H
#define COLLECT_METRICS_PROTOBUF_H

#include "buffer.h"
#include "metrics/metric_sink.h"

struct metrics_protobuf {
	struct metric_sink sink;
	struct buffer *out;
	size_t from; /* where the current family begins */
	enum metric_type type;
};

struct metrics_protobuf metrics_protobuf(struct buffer *out);

/* Appends the native buckets of a histogram as fields of the message containing it. The exposition format and remote
 * write have the same fields under other numbers. */
struct native_fields {
	uint32_t schema, zero_threshold, zero_count, spans, deltas;
};
void metrics_protobuf_native(struct buffer *out, const struct live_histogram *h, const struct native_fields *fields);

#endif
