/* The text formats of Prometheus: the classic one, version 0.0.4, and OpenMetrics 1.0.
 *
 *     struct metrics_text text = metrics_text(&out, true);
 *     live_figures_walk(&figures, &text.sink);
 *     metrics_text_end(&text);
 *
 * Numbers are written as OpenMetrics wants bounds to be written ("1.0", "0.0005") in both, so that a series keeps its
 * `le` label whichever format a server asks for. Memory that runs out shows in the buffer's `failed`.
 */
#ifndef COLLECT_METRICS_TEXT_H
#define COLLECT_METRICS_TEXT_H

#include "buffer.h"
#include "publish/metric_sink.h"

#include <stdbool.h>

struct metrics_text {
	struct metric_sink sink;
	struct buffer *out;
	bool openmetrics;
	struct metric_family family; /* the current one */
};

struct metrics_text metrics_text(struct buffer *out, bool openmetrics);
void metrics_text_end(struct metrics_text *text);

/* Appends a number as a bound of a histogram is written: 0.5, 1.0, +Inf. */
void metrics_text_bound(struct buffer *out, double value);

#endif
