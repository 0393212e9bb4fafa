#include "publish/metrics_protobuf.h"

#include "protobuf/protobuf_wire.h"

#include <math.h>
#include <string.h>

/* io.prometheus.client (metrics.proto of client_model) */
enum { FAMILY_NAME = 1, FAMILY_HELP = 2, FAMILY_TYPE = 3, FAMILY_METRIC = 4 };
enum { METRIC_LABEL = 1, METRIC_GAUGE_FIELD = 2, METRIC_COUNTER_FIELD = 3, METRIC_HISTOGRAM_FIELD = 7 };
enum { LABEL_NAME = 1, LABEL_VALUE = 2 };
enum { VALUE = 1 };
enum { HISTOGRAM_COUNT = 1, HISTOGRAM_SUM = 2, HISTOGRAM_BUCKET = 3 };
enum { BUCKET_CUMULATIVE = 1, BUCKET_BOUND = 2 };
enum { SPAN_OFFSET = 1, SPAN_LENGTH = 2 };
static const struct native_fields histogram_fields = {
	.schema = 5, .zero_threshold = 6, .zero_count = 7, .spans = 12, .deltas = 13};

/* As of Prometheus's own clients: below it a value counts as 0. No duration above 0 comes near it. */
static const double zero_threshold = 0x1p-128;

static void begin(struct metric_sink *sink, const struct metric_family *family)
{
	static const unsigned types[] = {
		[METRIC_COUNTER] = 0, [METRIC_GAUGE] = 1, [METRIC_INFO] = 1, [METRIC_HISTOGRAM] = 4};
	struct metrics_protobuf *p = (struct metrics_protobuf *)sink;
	p->from = p->out->len;
	p->type = family->type;
	size_t name = wire_open(p->out, FAMILY_NAME);
	buffer_text(p->out, family->name);
	buffer_text(p->out, metric_suffix(family->type));
	wire_close(p->out, name);
	wire_string(p->out, FAMILY_HELP, slice_of(family->help));
	wire_uint(p->out, FAMILY_TYPE, types[family->type]);
}

static size_t open_metric(struct buffer *out, const struct metric_label *labels, size_t count)
{
	size_t metric = wire_open(out, FAMILY_METRIC);
	for (size_t i = 0; i < count; i++) {
		size_t label = wire_open(out, METRIC_LABEL);
		wire_string(out, LABEL_NAME, slice_of(labels[i].name));
		wire_string(out, LABEL_VALUE, slice_of(labels[i].value));
		wire_close(out, label);
	}
	return metric;
}

static void point(struct metric_sink *sink, const struct metric_label *labels, size_t count, double value)
{
	struct metrics_protobuf *p = (struct metrics_protobuf *)sink;
	size_t metric = open_metric(p->out, labels, count);
	size_t field = wire_open(p->out, p->type == METRIC_COUNTER ? METRIC_COUNTER_FIELD : METRIC_GAUGE_FIELD);
	wire_double(p->out, VALUE, value);
	wire_close(p->out, field);
	wire_close(p->out, metric);
}

void metrics_protobuf_native(struct buffer *out, const struct live_histogram *h, const struct native_fields *fields)
{
	struct native_span spans[NATIVE_SPANS];
	size_t count = live_histogram_spans(h, spans);
	wire_uint(out, fields->schema, wire_zigzag(NATIVE_SCHEMA));
	wire_double(out, fields->zero_threshold, zero_threshold);
	wire_uint(out, fields->zero_count, (uint64_t)h->zero);
	for (size_t i = 0; i < count; i++) {
		size_t span = wire_open(out, fields->spans);
		wire_uint(out, SPAN_OFFSET, wire_zigzag(spans[i].offset));
		wire_uint(out, SPAN_LENGTH, spans[i].length);
		wire_close(out, span);
	}
	if (!count)
		return;
	int64_t before = 0;
	int index = 0;
	size_t deltas = wire_open(out, fields->deltas);
	for (size_t i = 0; i < count; i++) {
		index += spans[i].offset;
		for (uint32_t k = 0; k < spans[i].length; k++, index++) {
			int64_t now = live_histogram_native(h, index);
			wire_varint(out, wire_zigzag(now - before));
			before = now;
		}
	}
	wire_close(out, deltas);
}

static void histogram(struct metric_sink *sink, const struct metric_label *labels, size_t count,
                      const struct live_histogram *h)
{
	struct metrics_protobuf *p = (struct metrics_protobuf *)sink;
	int64_t cumulative = 0;
	size_t metric = open_metric(p->out, labels, count), field = wire_open(p->out, METRIC_HISTOGRAM_FIELD);
	wire_uint(p->out, HISTOGRAM_COUNT, (uint64_t)h->count);
	wire_double(p->out, HISTOGRAM_SUM, (double)h->sum_ns / 1e9);
	for (size_t i = 0; i <= LIVE_BOUNDS; i++) {
		size_t bucket = wire_open(p->out, HISTOGRAM_BUCKET);
		cumulative += h->classic[i];
		wire_uint(p->out, BUCKET_CUMULATIVE, (uint64_t)cumulative);
		wire_double(p->out, BUCKET_BOUND, i < LIVE_BOUNDS ? (double)live_bounds_ns[i] / 1e9 : INFINITY);
		wire_close(p->out, bucket);
	}
	metrics_protobuf_native(p->out, h, &histogram_fields);
	wire_close(p->out, field);
	wire_close(p->out, metric);
}

static void end(struct metric_sink *sink)
{
	struct metrics_protobuf *p = (struct metrics_protobuf *)sink;
	wire_close(p->out, p->from); /* its length */
}

struct metrics_protobuf metrics_protobuf(struct buffer *out)
{
	return (struct metrics_protobuf){
		.sink = {.begin = begin, .point = point, .histogram = histogram, .end = end},
		.out = out,
	};
}
