/* Where the stages of a run were steady (series/steady.h), from the windows of its results: shards together, repeats
 * each.
 */
#ifndef REPORT_STEADY_WINDOWS_H
#define REPORT_STEADY_WINDOWS_H

#include "results/run_data.h"

/* After merge_parts: sets run->steady, and passes the finding to the verdict. With `narrow` (--window steady) the
 * windows of the stages become their steady parts; a stage without one keeps its window, and the verdict doubts it.
 * Fails only when memory runs out. */
int steady_windows_find(struct run_data *run, bool narrow, struct ipf_error *err);

#endif
