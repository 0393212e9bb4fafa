/* A session whose requests may run beside each other: which waited for which, and how many were in flight.
 *
 *     struct session_graph graph = {.rows = rows, .count = count};   // sorted by their ends
 *     session_graph_link(&graph);
 *     for (int64_t at = count - 1; at >= 0; at = session_graph_before(&graph, at)) … rows[at] …   // the critical path
 *     session_graph_width(&graph, &width);
 *     session_graph_release(&graph);
 *
 * Results contain the parents of a request ("after" in ipf-results(5)). Those collected by an earlier version, or come
 * from another tool, do not: then a request waited for the latest one that had ended when it was due.
 */
#ifndef REPORT_SESSION_GRAPH_H
#define REPORT_SESSION_GRAPH_H

#include "results/run_data.h"

struct session_graph {
	const struct row *const *rows; /* set by the caller: they have a start and an end */
	int64_t count;
	bool known;                 /* do the results contain its parents? */
	struct session_place *by_n; /* where each n is in `rows` */
	int64_t *followers;         /* for each row, how many waited for it */
};

/* -1: out of memory. session_graph_release also after that. */
int session_graph_link(struct session_graph *graph);
/* When a request could have started if nothing had held it back: due, in a closed loop ready. */
int64_t session_graph_due(const struct row *row);
/* The request ending last of those that request number `at` waited for; -1: it waited for none. */
int64_t session_graph_before(const struct session_graph *graph, int64_t at);
void session_graph_release(struct session_graph *graph);

struct session_width {
	int64_t most;         /* requests in flight at the same time */
	int64_t in_all_ns;    /* the times from start to end of all requests */
	int64_t in_flight_ns; /* in which at least one was in flight */
};
/* -1: out of memory. */
int session_graph_width(const struct session_graph *graph, struct session_width *width);

#endif
