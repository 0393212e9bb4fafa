/* Places the values of a request in the windows of a run (series/series.h), each at the time at which it happened.
 * "Windows" in ipf-results(5) has the definitions.
 */
#ifndef COLLECT_ROW_WINDOWS_H
#define COLLECT_ROW_WINDOWS_H

#include "measure/observation.h"
#include "series/series.h"

/* The time a request spent in flight or waiting is counted in this many windows at most, so a nonsensical time cannot
 * make millions of them. */
#define ROW_WINDOWS_MOST 100000

/* -1: out of memory. */
int row_windows_add(struct series *series, const struct observation *o, struct ipf_error *err);

#endif
