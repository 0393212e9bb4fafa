/* When the stages of a run begin and end, as far as the schedule and the records so far say, and how many of an
 * answer's tokens came before each of these times: ipf-report counts the tokens of a stage exactly by them.
 *
 *     struct stage_edges *edges = stage_edges_new(&schedule);       // for each input
 *     stage_edges_add(edges, &row);                                 // each row, in the order of the records
 *     stage_edges_measure(edges, &response, tokens_of_events, &lists, &row);
 *     stage_edges_free(edges);
 *
 * The schedule's time stops at a stage without a planned end, or a draining one, until its last request has ended. The
 * times of later stages are known by then, because records come in the order of the ends.
 */
#ifndef COLLECT_STAGE_EDGES_H
#define COLLECT_STAGE_EDGES_H

#include "api/response.h"
#include "stream/result.h"
#include "stream/schedule.h"

struct stage_edges;

/* The schedule is borrowed. NULL: out of memory. */
struct stage_edges *stage_edges_new(const struct schedule *schedule);
void stage_edges_free(struct stage_edges *edges); /* NULL is fine */
/* Notes when a request of a stage ended. NULL: does nothing. */
void stage_edges_add(struct stage_edges *edges, const struct result *row);

/* Scratch space for the lists of a row. */
struct edge_lists {
	struct buffer times, tokens;
};
/* Sets edge_ns and edge_tokens of a row whose content events are on both sides of an edge. `tokens` are those of each
 * event. NULL: does nothing. Out of memory shows as lists->times.failed or lists->tokens.failed. */
void stage_edges_measure(const struct stage_edges *edges, const struct response *response, const int64_t *tokens,
                         struct edge_lists *lists, struct result *row);

#endif
