/* Inter-token latency (ITL) by position in the answer: do later tokens come more slowly, as the KV cache grows?
 *
 * The first sample of each answer has position 1, the next one 2, and so on. The histograms are coarse ones, for each
 * stage and bin; bins double: 1, 2-3, 4-7, 8-15, … so that there are few however long answers are, and the same for
 * all runs: they are merged exactly. Over the bins of a stage, counts and sums are those of its `itl_ns` histogram.
 *
 *     struct itl_positions *all = itl_positions_new();
 *     itl_positions_add(all, 0, 1, gap_ns, 1);
 *     for (size_t s = 0; s < itl_positions_stages(all); s++)
 *         for (int bin = 0; bin < ITL_POSITION_BINS; bin++)
 *             if ((h = itl_positions_get(all, s, bin))) …
 *     itl_positions_free(all);
 *
 * In results they are lines {"histogram":"itl_by_position_ns","stage":0,"position":4,"count":…}, see ipf-results(5).
 */
#ifndef IPF_ITL_POSITIONS_H
#define IPF_ITL_POSITIONS_H

#include "stats/histogram.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ITL_POSITIONS_NAME "itl_by_position_ns"

/* Bin i has the positions from 2^i to 2^(i+1) - 1. No answer reaches the last one, which has all others, too. */
enum { ITL_POSITION_BINS = 32 };

struct itl_positions;

struct itl_positions *itl_positions_new(void); /* NULL: out of memory */
void itl_positions_free(struct itl_positions *all);

/* Adds `count` samples of this value, which have the positions from `position` (at least 1) on. `stage` is not
 * negative, and the caller bounds it: memory is taken for all stages up to it. -1: out of memory. */
int itl_positions_add(struct itl_positions *all, int64_t stage, int64_t position, int64_t value_ns, int64_t count);

/* One more than the largest stage with samples. */
size_t itl_positions_stages(const struct itl_positions *all);
/* NULL: there are no samples. Borrowed. */
const struct histogram *itl_positions_get(const struct itl_positions *all, size_t stage, int bin);
/* The lowest position of a bin; of ITL_POSITION_BINS, one more than those of all bins. */
int64_t itl_position_first(int bin);

/* Appends the line of a bin with samples. */
void itl_positions_write(const struct itl_positions *all, size_t stage, int bin, struct buffer *line);
/* Reads such a line, whose stage the caller has checked, and adds it. -1: IPF_INPUT, or out of memory. */
int itl_positions_read(struct itl_positions *all, int64_t stage, const struct jdoc *doc, struct ipf_error *err);

#endif
