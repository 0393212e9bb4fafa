/* The text formats of Prometheus: the classic one, version 0.0.4, and OpenMetrics 1.0.
 *
 *     struct metrics_text text = metrics_text(&out, true);
 *     live_figures_walk(&figures, &text.sink);
 *     metrics_text_end(&text);
 *
 * Numbers are written as OpenMetrics wants bounds to be written ("1.0", "0.0005") in both, so a series keeps its `le`
 * label whichever format a server asks for. Memory running out shows in the buffer's `failed`.
 */
#ifndef IPF_METRICS_TEXT_H
#define IPF_METRICS_TEXT_H

#include "buffer.h"
#include "metrics/metric_sink.h"

#include <stdbool.h>

struct metrics_text {
	struct metric_sink sink;
	struct buffer *out;
	bool openmetrics;
	struct metric_family family; /* the current one */
};

/* A distribution known by its quantiles. */
struct text_quantile {
	double quantile; /* 0 to 1 */
	double value;
};
struct text_summary {
	int64_t n;
	double sum; /* NAN: not known */
	const struct text_quantile *quantiles;
	size_t count;
};

struct metrics_text metrics_text(struct buffer *out, bool openmetrics);
/* A family of summaries, whatever its type is, and one of it: only these formats have them. */
void metrics_text_begin_summaries(struct metrics_text *text, const struct metric_family *family);
void metrics_text_summary(struct metrics_text *text, const struct metric_label *labels, size_t count,
                          const struct text_summary *summary);
void metrics_text_end(struct metrics_text *text);

/* Appends a number as a bound of a histogram is written: 0.5, 1.0, +Inf. */
void metrics_text_bound(struct buffer *out, double value);

#endif
