/* Inter-token latency (ITL) histograms, one per stage, over the successful requests of a run. They are written as
 * `histogram` lines at the end of the results and can be merged across runs.
 */
#ifndef COLLECT_ITL_HISTOGRAMS_H
#define COLLECT_ITL_HISTOGRAMS_H

#include "measure.h"
#include "stream/stream.h"

struct itl_histograms;

struct itl_histograms *itl_histograms_new(void); /* NULL: out of memory */
void itl_histograms_free(struct itl_histograms *itl);

/* -1: out of memory, or IPF_INPUT for a stage number beyond any schedule's. */
int itl_histograms_add(struct itl_histograms *itl, int64_t stage, const struct itl_sample *samples, size_t count,
                       struct ipf_error *err);

/* Writes {"histogram":"itl_ns","stage":0,"count":…} for every stage that has samples, in stage order. `line` is
 * overwritten. */
int itl_histograms_write(const struct itl_histograms *itl, struct stream_writer *writer, struct buffer *line,
                         struct ipf_error *err);

#endif
