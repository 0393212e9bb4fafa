/* Inter-token gaps by their position in the answer, of a stage or of all measured ones: see series/itl_positions.h.
 *
 *     struct gap_positions found;
 *     int got = gap_positions_find(&found, run, -1);           // 0: not known of all gaps
 *     for (int i = 0; got > 0 && i < found.count; i++)
 *         histogram_percentile(found.list[i].gaps, 50) …       // of the positions from found.list[i].from to .to
 *     gap_positions_release(&found);
 */
#ifndef REPORT_GAP_POSITIONS_H
#define REPORT_GAP_POSITIONS_H

#include "results/run_data.h"

struct gap_positions {
	struct {
		int64_t from, to; /* the last one may reach further than any answer did */
		struct histogram *gaps;
	} list[ITL_POSITION_BINS]; /* in the order of positions */
	int count;
};

/* For a stage; -1: all measured ones. 1; 0: there are no gaps, or the position of some is not known: the samples are
 * means of requests, or the results were made by an earlier version or another tool; -1: out of memory. */
int gap_positions_find(struct gap_positions *found, const struct run_data *run, int32_t stage);
void gap_positions_release(struct gap_positions *found);

#endif
