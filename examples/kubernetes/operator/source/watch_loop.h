/* The operator's loop: keeps the stores up to date, and makes passes, until a signal ends it.
 *
 *     return watch_loop_run(&settings, health, &err);         // 0: SIGINT or SIGTERM; -1: it could not begin
 *
 * SIGTERM ends it between two steps. The next operator finishes half-done steps, as after a crash.
 */
#ifndef IPF_OPERATOR_WATCH_LOOP_H
#define IPF_OPERATOR_WATCH_LOOP_H

#include "error.h"
#include "reconcile/health.h"
#include "reconcile/operator.h"

int watch_loop_run(const struct operator_settings *settings, struct health *health, struct ipf_error *err);

#endif
