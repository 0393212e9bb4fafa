#include "sources/request_graph.h"

#include "absent.h"
#include "array.h"
#include "clock.h"

#include <stdlib.h>

#define NO_EDGE     UINT32_MAX
#define NO_NODE     UINT32_MAX
#define INHERIT_MAX 64 /* requests a wait for a beginning stands for; the work is bounded */
#define WAIT_MAX    (100 * NS_PER_YEAR)

struct graph_node {
	struct graph_request request;
	uint32_t waits;            /* its first edge */
	uint32_t children;         /* the first edge of those waiting for it */
	uint32_t up;               /* a node nearer to the representative of its group */
	uint32_t first;            /* the representative's: the first request of the group */
	uint32_t blocked;          /* how many of its waits are not over */
	uint32_t seen;             /* the last request, plus 1, for which it is among those waited for */
	size_t after, after_count; /* in the pool */
	bool added, dropped;
	bool lost; /* a request waiting for it was never added */
};

struct graph_edge {
	uint32_t from, on; /* `from` waits for `on` */
	uint32_t next_wait, next_child;
	struct graph_wait wait;
};

/* ---- names ---- */

/* The node of this id, made if there is none; NO_NODE when out of memory. */
static uint32_t find(struct request_graph *g, struct slice id)
{
	const size_t node = g->failed ? NO_NUMBER : name_number(&g->ids, id);
	if (node < g->count)
		return (uint32_t)node;
	if (node == NO_NUMBER || node >= NO_NODE || !array_room(g->nodes, g->cap, g->count + 1)) {
		g->failed = true;
		return NO_NODE;
	}
	g->nodes[node] = (struct graph_node){.waits = NO_EDGE, .children = NO_EDGE, .up = (uint32_t)node, .first = NO_NODE};
	g->count++;
	return (uint32_t)node;
}

struct slice request_graph_id(const struct request_graph *g, size_t request)
{
	return g->ids.list[request];
}

/* ---- requests and waits ---- */

size_t request_graph_add(struct request_graph *g, struct slice id, const struct graph_request *request)
{
	uint32_t node = find(g, id);
	if (node == NO_NODE || g->nodes[node].added)
		return NO_REQUEST;
	g->nodes[node].added = true;
	g->nodes[node].request = *request;
	g->requests++;
	return node;
}

static void add_edge(struct request_graph *g, uint32_t from, uint32_t on, const struct graph_wait *wait)
{
	if (from == NO_NODE || on == NO_NODE)
		return;
	if (g->edge_count >= NO_EDGE || !array_room(g->edges, g->edge_cap, g->edge_count + 1)) {
		g->failed = true;
		return;
	}
	g->edges[g->edge_count] = (struct graph_edge){from, on, g->nodes[from].waits, g->nodes[on].children, *wait};
	g->nodes[from].waits = g->nodes[on].children = (uint32_t)g->edge_count++;
}

void request_graph_wait(struct request_graph *g, size_t request, struct slice other, const struct graph_wait *wait)
{
	if (request != NO_REQUEST)
		add_edge(g, (uint32_t)request, find(g, other), wait);
}

void request_graph_wait_named(struct request_graph *g, struct slice id, size_t other, const struct graph_wait *wait)
{
	if (other != NO_REQUEST)
		add_edge(g, find(g, id), (uint32_t)other, wait);
}

/* ---- groups and order ---- */

static uint32_t group_of(struct request_graph *g, uint32_t node)
{
	struct graph_node *nodes = g->nodes;
	while (nodes[node].up != node) {
		nodes[node].up = nodes[nodes[node].up].up;
		node = nodes[node].up;
	}
	return node;
}

static int by_arrival(const void *a, const void *b, void *data)
{
	const struct request_graph *g = data;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int64_t p = g->nodes[x].request.at_ns, q = g->nodes[y].request.at_ns;
	if (p != q)
		return q == IPF_ABSENT || (p != IPF_ABSENT && p < q) ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Joins dependent requests, and counts for each how many it waits for. */
static void join_groups(struct request_graph *g)
{
	for (size_t i = 0; i < g->edge_count; i++) {
		const struct graph_edge *e = &g->edges[i];
		g->nodes[e->on].lost |= !g->nodes[e->from].added;
		if (!g->nodes[e->from].added || !g->nodes[e->on].added)
			continue;
		g->nodes[group_of(g, e->from)].up = group_of(g, e->on);
		g->nodes[e->from].blocked++;
	}
}

/* The requests waiting for none, by arrival; NULL when out of memory. */
static uint32_t *find_roots(struct request_graph *g, size_t *count)
{
	uint32_t *roots = malloc((g->requests + 1) * sizeof *roots);
	*count = 0;
	for (size_t i = 0; i < g->count && roots; i++)
		if (g->nodes[i].added && g->nodes[i].blocked == 0)
			roots[(*count)++] = (uint32_t)i;
	if (*count)
		qsort_r(roots, *count, sizeof *roots, by_arrival, g);
	for (size_t i = 0; i < *count; i++) {
		struct graph_node *group = &g->nodes[group_of(g, roots[i])];
		if (group->first == NO_NODE)
			group->first = roots[i];
	}
	return roots;
}

/* Puts a request into the order, and then those waiting for no other one. Related requests stay close, so the memory of
 * those handed over is the next ones'. */
static void add_to_order(struct request_graph *g, uint32_t root, bool drop_agents)
{
	size_t i = g->ordered;
	g->order[g->ordered++] = root;
	for (; i < g->ordered; i++) {
		struct graph_node *node = &g->nodes[g->order[i]];
		uint32_t first = g->nodes[group_of(g, g->order[i])].first;
		node->dropped = drop_agents && node->request.agent != g->nodes[first].request.agent;
		for (uint32_t e = node->children; e != NO_EDGE; e = g->edges[e].next_child)
			if (g->nodes[g->edges[e].from].added && --g->nodes[g->edges[e].from].blocked == 0)
				g->order[g->ordered++] = g->edges[e].from;
	}
}

void request_graph_sort(struct request_graph *g, bool drop_agents)
{
	size_t count;
	if (!g->failed)
		join_groups(g);
	uint32_t *roots = g->failed ? NULL : find_roots(g, &count);
	g->order = roots ? malloc((g->requests + 1) * sizeof *g->order) : NULL;
	g->failed |= !g->order;
	for (size_t i = 0; g->order && i < count; i++)
		add_to_order(g, roots[i], drop_agents);
	free(roots);
}

size_t request_graph_circles(const struct request_graph *g)
{
	return g->requests - g->ordered;
}

/* ---- steps ---- */

static void wait_for(struct request_graph *g, struct graph_node *node, uint32_t number, size_t other)
{
	struct graph_node *on = &g->nodes[other];
	if (on->seen == number + 1)
		return;
	on->seen = number + 1;
	if (!array_room(g->pool, g->pool_cap, g->pool_count + 1)) {
		g->failed = true;
		return;
	}
	g->pool[g->pool_count++] = other;
	node->after_count++;
	int64_t at_ns = on->request.at_ns;
	if (at_ns != IPF_ABSENT && node->request.at_ns != IPF_ABSENT && node->request.at_ns < at_ns)
		node->request.at_ns = at_ns;
}

/* Waits for the end of a request that was running, as far as is known, when this one began. */
static int64_t wait_for_end(struct request_graph *g, struct graph_node *node, uint32_t number, uint32_t other,
                            unsigned *differs)
{
	int64_t end_ns = g->nodes[other].request.end_ns, at_ns = node->request.at_ns;
	bool after = end_ns != IPF_ABSENT && at_ns != IPF_ABSENT && at_ns >= end_ns;
	wait_for(g, node, number, other);
	if (!after)
		*differs |= STEP_OVERLAPS;
	return after ? at_ns - end_ns : 0;
}

/* The delay after a wait that is in the list now; IPF_ABSENT: it has none. */
static int64_t follow(struct request_graph *g, uint32_t number, const struct graph_edge *e, unsigned *differs)
{
	struct graph_node *node = &g->nodes[number];
	const struct graph_node *on = &g->nodes[e->on];
	if (!e->wait.for_start) {
		wait_for(g, node, number, e->on);
		return e->wait.delay_ns;
	}
	if (on->after_count == 0 || on->after_count > INHERIT_MAX)
		return wait_for_end(g, node, number, e->on, differs);
	for (size_t i = 0; i < on->after_count && !g->failed; i++)
		wait_for(g, node, number, g->pool[on->after + i]);
	int64_t sum = (on->request.wait_ns == IPF_ABSENT ? 0 : on->request.wait_ns) +
	              (e->wait.delay_ns == IPF_ABSENT ? 0 : e->wait.delay_ns);
	return sum < WAIT_MAX ? sum : WAIT_MAX;
}

/* The recorded time from the last of the ends a request waits for; IPF_ABSENT if it is not known. */
static int64_t recorded_wait(const struct request_graph *g, const struct graph_node *node)
{
	int64_t last_ns = IPF_ABSENT, at_ns = node->request.at_ns;
	for (size_t i = 0; i < node->after_count; i++) {
		int64_t end_ns = g->nodes[g->pool[node->after + i]].request.end_ns;
		if (end_ns == IPF_ABSENT)
			return IPF_ABSENT;
		last_ns = last_ns == IPF_ABSENT || end_ns > last_ns ? end_ns : last_ns;
	}
	return last_ns != IPF_ABSENT && at_ns != IPF_ABSENT && at_ns >= last_ns ? at_ns - last_ns : IPF_ABSENT;
}

/* Finds the wait of a request, and how long after it the request begins. */
static unsigned resolve(struct request_graph *g, uint32_t number)
{
	struct graph_node *node = &g->nodes[number];
	unsigned differs = node->lost ? STEP_UNKNOWN : 0;
	int64_t least = IPF_ABSENT, most = IPF_ABSENT, barrier = IPF_ABSENT, at_ns = node->request.at_ns;
	node->after = g->pool_count;
	for (uint32_t i = node->waits; i != NO_EDGE; i = g->edges[i].next_wait) {
		const struct graph_edge *e = &g->edges[i];
		if (!g->nodes[e->on].added || g->nodes[e->on].dropped) {
			differs |= g->nodes[e->on].added ? 0 : STEP_UNKNOWN;
			continue;
		}
		int64_t delay_ns = follow(g, number, e, &differs);
		if (delay_ns == IPF_ABSENT)
			continue;
		if (e->wait.barrier) {
			barrier = delay_ns;
			continue;
		}
		least = least == IPF_ABSENT || delay_ns < least ? delay_ns : least;
		most = most == IPF_ABSENT || delay_ns > most ? delay_ns : most;
	}
	uint32_t first = g->nodes[group_of(g, number)].first;
	if (node->after_count == 0 && number != first)
		least = most = wait_for_end(g, node, number, first, &differs);
	if (least != IPF_ABSENT || barrier != IPF_ABSENT)
		node->request.wait_ns = least != IPF_ABSENT ? least : barrier;
	int64_t recorded = node->after_count > 1 && least != IPF_ABSENT ? recorded_wait(g, node) : IPF_ABSENT;
	if (recorded != IPF_ABSENT)
		node->request.wait_ns = recorded;
	differs |= least != most && recorded == IPF_ABSENT ? STEP_DELAYS : 0;
	return differs | (node->request.at_ns != at_ns ? STEP_MOVED : 0);
}

bool request_graph_next(struct request_graph *g, struct graph_step *step)
{
	while (g->next < g->ordered && g->nodes[g->order[g->next]].dropped)
		g->next++;
	if (g->failed || g->next == g->ordered)
		return false;
	uint32_t number = g->order[g->next++];
	unsigned differs = resolve(g, number);
	const struct graph_node *node = &g->nodes[number];
	*step = (struct graph_step){.request = number,
	                            .first = g->nodes[group_of(g, number)].first,
	                            .after = node->after_count ? g->pool + node->after : NULL,
	                            .after_count = node->after_count,
	                            .at_ns = node->request.at_ns,
	                            .wait_ns = node->request.wait_ns,
	                            .differs = differs};
	return !g->failed;
}

void request_graph_release(struct request_graph *g)
{
	name_numbers_release(&g->ids);
	free(g->nodes);
	free(g->edges);
	free(g->order);
	free(g->pool);
	*g = (struct request_graph){0};
}
