/* Inter-token latency (ITL) histograms over the successful requests of a run: one for each stage and, in a stage with
 * several models, one for each of these; and coarser ones by the position in the answer (series/itl_positions.h). They
 * are written as `histogram` lines at the end of the results and can be merged across runs.
 */
#ifndef COLLECT_ITL_HISTOGRAMS_H
#define COLLECT_ITL_HISTOGRAMS_H

#include "measure/measure.h"
#include "stream/stream.h"

struct itl_histograms;

struct itl_histograms *itl_histograms_new(void); /* NULL: out of memory */
void itl_histograms_free(struct itl_histograms *itl);

/* Adds the samples of a row, which are those of its stage and model. -1: out of memory, or IPF_INPUT for a stage number
 * beyond any schedule's. */
int itl_histograms_add(struct itl_histograms *itl, const struct result *row, const struct measure *m,
                       struct ipf_error *err);

/* Writes {"histogram":"itl_ns","stage":0,"count":…} for every stage with samples, in stage order, and after it, if its
 * samples are of several models, {"histogram":"itl_ns","stage":0,"model":"NAME","count":…} for each of these, in the
 * order of their first samples, and {"histogram":"itl_by_position_ns","stage":0,"position":1,"count":…} for each bin of
 * positions, unless samples are means of whole requests. `line` is overwritten. */
int itl_histograms_write(const struct itl_histograms *itl, struct stream_writer *writer, struct buffer *line,
                         struct ipf_error *err);

#endif
