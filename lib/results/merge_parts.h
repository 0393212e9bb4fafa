/* Merges the parts of a run, after all of them have been read. It sorts the rows, decides whether the parts are shards
 * or repeats, and determines when each stage was measured.
 */
#ifndef IPF_MERGE_PARTS_H
#define IPF_MERGE_PARTS_H

#include "results/run_data.h"

/* Fails only when memory runs out. */
int merge_parts(struct run_data *run, struct ipf_error *err);

#endif
