/* How the requests of a stage count as completed. Counting those ending within its window is right if as many were in
 * flight at its end as at its begin. Otherwise the count is biased: a stage beginning idle hands answers over to the
 * time after it, and one beginning with a backlog takes those of the time before it.
 *
 * EDGE_ENDS    a request counts in the window in which it ended.
 * EDGE_SHARES  of closed loops, and if fewer are in flight at the end: a request counts in each window by the share of
 *              its output tokens that arrived there (of its time from start to end, if it was not streamed).
 * EDGE_STARTS  of open loops, if more are in flight at the end: the requests starting within the window, over the
 *              time in which these ended. That is the window times `stretch`: 1 + the slope of a line through their
 *              latencies over their starts, by least squares. A server that keeps up has 1; a growing queue stretches
 *              it.
 *
 * The last two replace the first only if the requests in flight differ by more than chance explains, and the rate by
 * 2 %. Over all requests together, each counts as one with any of them.
 *
 *     struct edge_rules *rules = edge_rules_new(&run, drain);
 *     const struct edge_rule *rule = edge_rule_of(rules, part, stage);
 */
#ifndef REPORT_EDGE_RULE_H
#define REPORT_EDGE_RULE_H

#include "results/run_data.h"

enum edge_counting { EDGE_ENDS, EDGE_SHARES, EDGE_STARTS };

struct edge_rule {
	int64_t begin_ns, end_ns; /* the window, up to before end_ns; IPF_ABSENT: the stage did not begin */
	bool taken;               /* begin_ns itself belongs to a window ending there, but for the stage's own requests */
	enum edge_counting counting;
	double stretch;
	bool biased;                            /* the requests in flight differ by more than chance explains … */
	int64_t begin_in_flight, end_in_flight; /* … and how many these were; not with `drain` */
};

struct edge_rules;

/* For all stages; shards are together, repeats apart. With `drain`, windows last until the last request of their stage
 * has ended, and all requests count where they ended. NULL: out of memory. */
struct edge_rules *edge_rules_new(const struct run_data *run, bool drain);
const struct edge_rule *edge_rule_of(const struct edge_rules *rules, int part, int32_t stage);
void edge_rules_free(struct edge_rules *rules); /* NULL is fine */

/* The share of a request by which it counts in a time with EDGE_SHARES. */
double edge_share(const struct row *row, int64_t begin_ns, int64_t end_ns);

#endif
