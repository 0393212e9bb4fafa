#include "publish/remote_write.h"

#include "protobuf/protobuf_wire.h"
#include "publish/metrics_protobuf.h"
#include "metrics/metrics_text.h"

#include <math.h>
#include <snappy-c.h>
#include <stdlib.h>
#include <string.h>

/* prometheus.WriteRequest (remote.proto and types.proto of prompb) */
enum { REQUEST_SERIES = 1, REQUEST_METADATA = 3 };
enum { SERIES_LABEL = 1, SERIES_SAMPLE = 2, SERIES_HISTOGRAM = 4 };
enum { LABEL_NAME = 1, LABEL_VALUE = 2 };
enum { SAMPLE_VALUE = 1, SAMPLE_TIME = 2 };
enum { METADATA_TYPE = 1, METADATA_NAME = 2, METADATA_HELP = 4, METADATA_UNIT = 5 };
enum { HISTOGRAM_COUNT = 1, HISTOGRAM_SUM = 3, HISTOGRAM_TIME = 15 };
static const struct native_fields histogram_fields = {
	.schema = 4, .zero_threshold = 5, .zero_count = 6, .spans = 11, .deltas = 12};

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct metric_label *)a)->name, ((const struct metric_label *)b)->name);
}

/* Begins a series. Its labels are sorted, as receivers require; __name__ precedes all others. */
static size_t open_series(struct remote_write *w, const char *suffix, const struct metric_label *labels, size_t count,
                          const char *bound)
{
	struct metric_label all[METRIC_LABELS_MOST + REMOTE_WRITE_LABELS_MOST + 2];
	size_t n = 0;
	buffer_clear(&w->name);
	buffer_text(&w->name, w->family.name);
	buffer_text(&w->name, suffix);
	all[n++] = (struct metric_label){"__name__", w->name.failed ? "" : w->name.data};
	for (size_t i = 0; i < w->labels_count; i++)
		all[n++] = w->labels[i];
	for (size_t i = 0; i < count; i++)
		all[n++] = labels[i];
	if (bound)
		all[n++] = (struct metric_label){"le", bound};
	qsort(all, n, sizeof *all, by_name);
	size_t series = wire_open(w->out, REQUEST_SERIES);
	for (size_t i = 0; i < n; i++) {
		size_t label = wire_open(w->out, SERIES_LABEL);
		wire_string(w->out, LABEL_NAME, slice_of(all[i].name));
		wire_string(w->out, LABEL_VALUE, slice_of(all[i].value));
		wire_close(w->out, label);
	}
	return series;
}

static void put_series(struct remote_write *w, const char *suffix, const struct metric_label *labels, size_t count,
                       double value)
{
	size_t series = open_series(w, suffix, labels, count, NULL), sample = wire_open(w->out, SERIES_SAMPLE);
	wire_double(w->out, SAMPLE_VALUE, value);
	wire_uint(w->out, SAMPLE_TIME, (uint64_t)w->t_ms);
	wire_close(w->out, sample);
	wire_close(w->out, series);
}

static void begin(struct metric_sink *sink, const struct metric_family *family)
{
	static const unsigned types[] = {
		[METRIC_COUNTER] = 1, [METRIC_GAUGE] = 2, [METRIC_INFO] = 2, [METRIC_HISTOGRAM] = 3};
	struct remote_write *w = (struct remote_write *)sink;
	w->family = *family;
	if (w->native && family->type != METRIC_HISTOGRAM)
		return;
	size_t metadata = wire_open(w->out, REQUEST_METADATA);
	wire_uint(w->out, METADATA_TYPE, types[family->type]);
	size_t name = wire_open(w->out, METADATA_NAME);
	buffer_text(w->out, family->name);
	buffer_text(w->out, metric_suffix(family->type));
	wire_close(w->out, name);
	wire_string(w->out, METADATA_HELP, slice_of(family->help));
	if (family->unit)
		wire_string(w->out, METADATA_UNIT, slice_of(family->unit));
	wire_close(w->out, metadata);
}

static void point(struct metric_sink *sink, const struct metric_label *labels, size_t count, double value)
{
	struct remote_write *w = (struct remote_write *)sink;
	if (!w->native)
		put_series(w, metric_suffix(w->family.type), labels, count, value);
}

static void put_native(struct remote_write *w, const struct metric_label *labels, size_t count,
                       const struct live_histogram *h)
{
	size_t series = open_series(w, "", labels, count, NULL), field = wire_open(w->out, SERIES_HISTOGRAM);
	wire_uint(w->out, HISTOGRAM_COUNT, (uint64_t)h->count);
	wire_double(w->out, HISTOGRAM_SUM, (double)h->sum_ns / 1e9);
	metrics_protobuf_native(w->out, h, &histogram_fields);
	wire_uint(w->out, HISTOGRAM_TIME, (uint64_t)w->t_ms);
	wire_close(w->out, field);
	wire_close(w->out, series);
}

static void put_bucket(struct remote_write *w, const struct metric_label *labels, size_t count, double bound,
                       int64_t cumulative)
{
	buffer_clear(&w->bound);
	metrics_text_bound(&w->bound, bound);
	size_t series = open_series(w, "_bucket", labels, count, w->bound.failed ? "" : w->bound.data);
	size_t sample = wire_open(w->out, SERIES_SAMPLE);
	wire_double(w->out, SAMPLE_VALUE, (double)cumulative);
	wire_uint(w->out, SAMPLE_TIME, (uint64_t)w->t_ms);
	wire_close(w->out, sample);
	wire_close(w->out, series);
}

static void histogram(struct metric_sink *sink, const struct metric_label *labels, size_t count,
                      const struct live_histogram *h)
{
	struct remote_write *w = (struct remote_write *)sink;
	int64_t cumulative = 0;
	if (w->native) {
		put_native(w, labels, count, h);
		return;
	}
	for (size_t i = 0; i <= LIVE_BOUNDS; i++) {
		cumulative += h->classic[i];
		put_bucket(w, labels, count, i < LIVE_BOUNDS ? (double)live_bounds_ns[i] / 1e9 : INFINITY, cumulative);
	}
	put_series(w, "_sum", labels, count, (double)h->sum_ns / 1e9);
	put_series(w, "_count", labels, count, (double)h->count);
}

static void end(struct metric_sink *sink)
{
	struct remote_write *w = (struct remote_write *)sink;
	if (w->name.failed || w->bound.failed)
		w->out->failed = true;
}

struct remote_write remote_write(struct buffer *out, const struct metric_label *labels, size_t labels_count,
                                 int64_t t_ms, bool native)
{
	return (struct remote_write){
		.sink = {.begin = begin, .point = point, .histogram = histogram, .end = end},
		.out = out,
		.labels = labels,
		.labels_count = labels_count,
		.t_ms = t_ms,
		.native = native,
	};
}

void remote_write_release(struct remote_write *w)
{
	buffer_release(&w->name);
	buffer_release(&w->bound);
}

void remote_write_compress(struct slice request, struct buffer *body)
{
	size_t len = snappy_max_compressed_length(request.len);
	buffer_clear(body);
	char *to = buffer_reserve(body, len);
	if (!to)
		return;
	if (!request.data || snappy_compress(request.data, request.len, to, &len) != SNAPPY_OK) {
		body->failed = true;
		return;
	}
	body->len = len;
	body->data[len] = '\0';
}
