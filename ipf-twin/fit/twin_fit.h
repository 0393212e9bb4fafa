/* Fits a twin (twin/twin.h) to the steps of a server, or to spans where steps are not seen (twin_rows.h).
 *
 *     struct twin twin;
 *     if (twin_fit(&twin, &data, &steps, false, &err) == 0) … twin.p[TWIN_STEP_BASE] …
 *     twin_release(&twin);
 *
 * 1. The lengths of steps are a sum (twin.h), fitted by robust least squares (robust_fit.h) to steps of which all is
 *    known: those of decoding alone while nobody waited, those with first tokens of requests that were sent while the
 *    step before was under way; and to the time to first token of requests that found the server idle, which has the
 *    overhead besides.
 * 2. The residuals give the jitter (the clock's own errors cancel out between neighbours: a late time makes
 *    one step longer and the next one shorter) and the pauses.
 * 3. The limits (twin_limits.h) show where requests wait.
 */
#ifndef TWIN_TWIN_FIT_H
#define TWIN_TWIN_FIT_H

#include "fit/robust_fit.h"
#include "fit/twin_steps.h"

#include "twin/twin.h"

/* By spans (twin_rows.h), nothing is known of single steps: their tokens, pauses. -1: IPF_INPUT, why no twin can be
 * made of it; IPF_SYSTEM. */
int twin_fit(struct twin *twin, const struct twin_data *data, const struct twin_steps *steps, bool by_spans,
             struct ipf_error *err);

#endif
