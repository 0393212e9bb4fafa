/* Prometheus remote write 1.0: the figures as one prometheus.WriteRequest (prompb of Prometheus 2.42), compressed with
 * snappy's block format.
 *
 *     struct remote_write w = remote_write(&out, &target);
 *     live_figures_walk(&figures, &w.sink);
 *     remote_write_compress(&out, &body);             // what is sent
 *
 * Every series gets the target's labels, and one sample at its time. Histograms are written as classic series, or, with
 * `native`, only as native ones: receivers without them refuse a request with them, so the two go apart.
 */
#ifndef COLLECT_REMOTE_WRITE_H
#define COLLECT_REMOTE_WRITE_H

#include "buffer.h"
#include "metrics/metric_sink.h"

#include <stdbool.h>

struct remote_write {
	struct metric_sink sink;
	struct buffer *out;
	const struct metric_label *labels; /* the target's: job, instance, …; borrowed */
	size_t labels_count;
	int64_t t_ms; /* since the epoch */
	bool native;
	struct metric_family family;
	struct buffer name, bound; /* scratch */
};

#define REMOTE_WRITE_LABELS_MOST 4 /* a target's */

struct remote_write remote_write(struct buffer *out, const struct metric_label *labels, size_t labels_count,
                                 int64_t t_ms, bool native);
void remote_write_release(struct remote_write *w);

/* Replaces `body` by the compressed request. Memory running out shows in body->failed. */
void remote_write_compress(struct slice request, struct buffer *body);

#endif
