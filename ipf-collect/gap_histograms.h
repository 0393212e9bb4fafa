/* Inter-token latencies of a whole run, pooled over the requests that went well: a histogram a stage, written as
 * `histogram` lines at the end of the results, from where any number of runs can be merged.
 */
#ifndef COLLECT_TALLY_H
#define COLLECT_TALLY_H

#include "measure.h"
#include "stream/stream.h"

struct gap_histograms;

struct gap_histograms *gap_histograms_new(void); /* NULL: out of memory */
void gap_histograms_free(struct gap_histograms *tally);

/* -1: out of memory, or more stages than any schedule has. */
int gap_histograms_add(struct gap_histograms *tally, int64_t stage, const struct itl_sample *samples, size_t count,
                       struct ipf_error *err);

/* {"histogram":"itl_ns","stage":0,"count":…} for every stage that has samples, in the order of the stages. `line` is
 * scratch. */
int gap_histograms_write(const struct gap_histograms *tally, struct stream_writer *writer, struct buffer *line,
                         struct ipf_error *err);

#endif
