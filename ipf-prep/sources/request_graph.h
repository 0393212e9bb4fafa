/* Requests waiting for others by name, brought into the form of a trace: groups belonging together, each with one first
 * request, in which every other request follows those whose ends it waits for.
 *
 *     size_t at = request_graph_add(&g, id, &request);              // NO_REQUEST: the id is there already
 *     request_graph_wait(&g, at, other, &(struct graph_wait){.delay_ns = ns}); …
 *     request_graph_sort(&g, false);
 *     struct graph_step step;
 *     while (request_graph_next(&g, &step)) …
 *     request_graph_release(&g);
 *
 * A request may name others before they are added. A trace knows no wait for the beginning of a request: a request
 * waiting for one waits for the same as the other one, and as much longer.
 */
#ifndef PREP_REQUEST_GRAPH_H
#define PREP_REQUEST_GRAPH_H

#include "buffer.h"
#include "sources/name_numbers.h"

#include <stdbool.h>
#include <stdint.h>

#define NO_REQUEST SIZE_MAX

struct graph_request {
	int64_t at_ns, end_ns; /* as recorded; IPF_ABSENT */
	int64_t wait_ns;       /* after all it waits for, if these waits have no delays; IPF_ABSENT */
	uint64_t agent;        /* equal for the requests of one agent */
};

struct graph_wait {
	int64_t delay_ns; /* IPF_ABSENT: that of the request counts */
	bool for_start;   /* for the beginning of the other request, not its end */
	bool barrier;     /* keeps an order only: its delay is not the recorded one */
};

/* Differences of a request from its record. */
enum {
	STEP_UNKNOWN = 1,  /* it waits for, or precedes, a request that does not exist; this is ignored */
	STEP_OVERLAPS = 2, /* it began while the one that it waits for was running */
	STEP_DELAYS = 4,   /* it waits for several with different delays, whose ends are not known; the shortest counts */
	STEP_MOVED = 8,    /* it was recorded before its parent; it arrives with that */
};

struct graph_step {
	size_t request; /* as request_graph_add returned it */
	size_t first;   /* the first request of its group */
	const size_t *after;
	size_t after_count; /* the requests it waits for; 0 for the first one only */
	int64_t at_ns, wait_ns;
	unsigned differs; /* STEP_… */
};

struct request_graph {
	struct graph_node *nodes; /* in the order in which they were named */
	size_t count, cap;
	struct name_numbers ids; /* the nodes' */
	struct graph_edge *edges;
	size_t edge_count, edge_cap;
	uint32_t *order; /* the requests'; those in a circle are not in it */
	size_t ordered, next;
	size_t *pool; /* the requests each waits for */
	size_t pool_count, pool_cap;
	size_t requests;
	bool failed; /* out of memory; stays set */
};

/* The number of the request, for the other functions: NO_REQUEST if there is one of this id, or `failed`. */
size_t request_graph_add(struct request_graph *g, struct slice id, const struct graph_request *request);
/* `request` waits for the one with the id `other`. */
void request_graph_wait(struct request_graph *g, size_t request, struct slice other, const struct graph_wait *wait);
/* The same for a request named first: `id`, which may be added later, waits for `other`. */
void request_graph_wait_named(struct request_graph *g, struct slice id, size_t other, const struct graph_wait *wait);
/* After all have been added. `drop_agents`: without requests of other agents than that of the group's first request. */
void request_graph_sort(struct request_graph *g, bool drop_agents);
/* The next request; false: there are no more, or `failed`. */
bool request_graph_next(struct request_graph *g, struct graph_step *step);
/* After the last step: how many requests there are that wait, through others, for themselves. */
size_t request_graph_circles(const struct request_graph *g);
/* Valid until the release. */
struct slice request_graph_id(const struct request_graph *g, size_t request);
void request_graph_release(struct request_graph *g);

#endif
