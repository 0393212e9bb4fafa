/* A twin of the server of a run, from its results: fitted to its steps, or to the time of whole answers where that
 * predicts the run clearly better (twin_rows.h).
 */
#ifndef TWIN_TWIN_MAKE_H
#define TWIN_TWIN_MAKE_H

#include "fit/twin_data.h"

#include "twin/twin.h"

/* -1: IPF_INPUT, why there is no twin; IPF_SYSTEM. */
int twin_make(struct twin *twin, const struct twin_data *data, struct ipf_error *err);

#endif
