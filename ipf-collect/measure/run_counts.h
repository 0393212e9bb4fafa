/* Counts of a run so far: for the progress line and the notes at the end.
 *
 *     struct run_counts counts = {0};
 *     run_counts_add(&counts, &observation);
 *     run_counts_progress(&counts, &line);          // "8120 requests  3 failed (timeout 3)  9.1k tokens/s  …"
 */
#ifndef COLLECT_RUN_COUNTS_H
#define COLLECT_RUN_COUNTS_H

#include "buffer.h"
#include "measure/observation.h"
#include "verdict/failure_tally.h"

/* Zero-initialise. */
struct run_counts {
	int64_t rows, failed, hung_up, unseen;
	int64_t tokens_unknown;   /* successful requests that --itl token left out */
	struct failure_tally why; /* the failed ones */

	/* private */
	int64_t first_ns, last_ns, output_tokens, ttft_count;
	double ttft_sum;
	struct {
		char kind[16]; /* as in the row, with its quotes */
		int64_t count;
	} failures[12]; /* in order of first occurrence; there are ten kinds */
};

void run_counts_add(struct run_counts *counts, const struct observation *o);
/* Appends the text of the progress line. */
void run_counts_progress(const struct run_counts *counts, struct buffer *out);
/* Appends "http_status 2, timeout 1" after the given text, or nothing if no request failed. */
void run_counts_kinds(const struct run_counts *counts, const char *before, struct buffer *out);
/* Appends "8120 requests, 3 failed: timeout 3" and a newline. */
void run_counts_describe(const struct run_counts *counts, struct buffer *out);

#endif
