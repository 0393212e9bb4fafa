/* The metrics a run publishes, as a walk over families and their points: each format is a sink told them in turn
 * (metrics_text.h, metrics_protobuf.h, remote_write.h).
 *
 *     struct metric_sink text = …;
 *     live_figures_walk(&figures, &text);           // live_metrics.h
 *
 * Names are those of Prometheus's conventions (https://prometheus.io/docs/practices/naming/): base units, the unit at
 * the end. A family's name is without the suffix its points have: `_total` of a counter, `_info` of an info.
 */
#ifndef IPF_METRIC_SINK_H
#define IPF_METRIC_SINK_H

#include "metrics/live_histogram.h"

enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_INFO };

struct metric_family {
	const char *name, *help;
	const char *unit; /* "seconds", the last word of the name; NULL: it has none */
	enum metric_type type;
};

struct metric_label {
	const char *name, *value; /* UTF-8 */
};
#define METRIC_LABELS_MOST 8

/* A walk calls it; a sink embeds it as its first member. `end` follows the last point of each family. */
struct metric_sink {
	void (*begin)(struct metric_sink *sink, const struct metric_family *family);
	void (*point)(struct metric_sink *sink, const struct metric_label *labels, size_t count, double value);
	void (*histogram)(struct metric_sink *sink, const struct metric_label *labels, size_t count,
	                  const struct live_histogram *histogram);
	void (*end)(struct metric_sink *sink);
};

/* The suffix of a family's points: "_total", "_info" or "". */
const char *metric_suffix(enum metric_type type);

#endif
