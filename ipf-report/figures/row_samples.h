/* The values of some rows as samples. The rows are picked once, and then one column after another is read.
 *
 *     struct picked_rows rows = {.columns = &run->columns};
 *     for each row that counts: picked_rows_add(&rows, row);
 *     if (rows.failed) …                                           // out of memory
 *     row_samples_metric(&rows, METRIC_TTFT, FROM_DUE, &samples, &infinite);
 *     row_samples_column(&rows, ROW_OUTPUT_TOKENS, &samples);      // of successful requests without checked ones
 *     picked_rows_release(&rows);
 *
 * Samples keep the order of the rows. All functions replace the values of `samples`; -1: out of memory.
 */
#ifndef REPORT_ROW_SAMPLES_H
#define REPORT_ROW_SAMPLES_H

#include "results/run_data.h"
#include "stats/samples.h"

enum latency_origin { FROM_START, FROM_DUE, AS_WAITED }; /* AS_WAITED: from due if there is one, else from start */

struct picked_row {
	int64_t at;     /* in the columns */
	bool ok, wrong; /* wrong: neither ok nor disconnected on purpose */
	bool whole;     /* the answer was not streamed: one event */
	bool checked;   /* its latencies and lengths count nowhere (stream/request_check.h) */
};

struct picked_rows {
	const struct row_columns *columns;
	struct picked_row *list;
	size_t count, cap;
	bool failed;
};

void picked_rows_add(struct picked_rows *rows, const struct row *row);
void picked_rows_release(struct picked_rows *rows);

/* In nanoseconds. Latencies are those of successful requests; *infinite is the number of the others whose latency can
 * count as infinite. */
int row_samples_metric(const struct picked_rows *rows, enum metric m, enum latency_origin origin, struct samples *s,
                       int64_t *infinite);
int row_samples_column(const struct picked_rows *rows, enum row_column column, struct samples *s);

#endif
