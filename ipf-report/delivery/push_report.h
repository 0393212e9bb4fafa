/* --push: sends the figures of a run, as -f prometheus writes them, to Pushgateways.
 *
 *     if (push_report_check(&figures, &err) < 0) …                        // before anything is read
 *     push_report_send(&figures, i, "nightly", &exposition, &err)         // to the i-th target
 *
 * The grouping is /metrics/job/ipf-report, and /run/NAME if the run has a name, unless the URL has one: the report of a
 * later run of this name replaces the figures of the earlier one. There is no instance, since it is not of interest
 * where a report is made, and a gateway keeps every group until somebody deletes it.
 */
#ifndef REPORT_PUSH_REPORT_H
#define REPORT_PUSH_REPORT_H

#include "push/push_target.h"

#define PUSH_REPORT_TRIES 5 /* to each target; see push_sender.h for the pauses between them */

/* Whether the options are right: IPF_USAGE, or IPF_SYSTEM for an unreadable key. */
int push_report_check(const struct push_figures *figures, struct ipf_error *err);

/* Replaces the figures of the group. Repeats a push after passing errors: no connection, no answer within 10 s, status
 * 429 and 5xx. `run`: NULL if it has no name. -1: IPF_SYSTEM, with the target and its answer, without secrets. */
int push_report_send(const struct push_figures *figures, size_t target, const char *run,
                     const struct buffer *exposition, struct ipf_error *err);

#endif
