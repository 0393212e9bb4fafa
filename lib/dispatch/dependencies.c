#include "dispatch/dependencies.h"

#include <stdlib.h>

static void put_upcoming(struct dependencies *d, struct dispatch_node *node)
{
	node->next_upcoming = d->upcoming;
	d->upcoming = node;
}

struct dispatch_node *dependencies_upcoming(struct dependencies *d)
{
	struct dispatch_node *node = d->upcoming;
	if (node)
		d->upcoming = node->next_upcoming;
	return node;
}

static bool is_near(const struct dispatch_node *node)
{
	return node->root ? node->state == NODE_IN_FLIGHT : node->unstarted == 0;
}

static void came_near(struct dependencies *d, const struct dispatch_node *node)
{
	for (struct dependency_edge *e = node->children; e; e = e->next)
		if (--e->child->far == 0 && e->child->state == NODE_WAITING)
			put_upcoming(d, e->child);
}

void dependencies_started(struct dependencies *d, const struct dispatch_node *node)
{
	if (node->root)
		came_near(d, node);
	for (struct dependency_edge *e = node->children; e; e = e->next)
		if (--e->child->unstarted == 0)
			came_near(d, e->child);
}

void dependencies_added(struct dependencies *d, struct dispatch_node *node)
{
	if (!node->root && !node->far)
		put_upcoming(d, node);
}

int dependencies_link(struct dependencies *d, struct dispatch_node *node, const struct schedule_arrival *a,
                      bool *dropped, struct ipf_error *err)
{
	for (size_t i = 0; i < a->after_count; i++) {
		struct dispatch_node *parent;
		int64_t end = arrival_ends_get(d->ends, a->after[i], &parent);
		if (parent && parent->state != NODE_DROPPED) {
			struct dependency_edge *e = malloc(sizeof *e);
			if (!e)
				return ipf_error_memory(err);
			*e = (struct dependency_edge){.child = node, .next = parent->children};
			parent->children = e;
			node->parents++;
			node->unstarted += parent->state != NODE_IN_FLIGHT;
			node->far += !is_near(parent);
		} else if (end == ARRIVAL_ENDS_NEVER || parent) {
			*dropped = true;
		} else if (end == ARRIVAL_ENDS_UNKNOWN) {
			return ipf_error_set(err, IPF_INPUT, "after: arrival n %lld waits for n %lld, which does not precede it",
			                     (long long)a->n, (long long)a->after[i]);
		} else if (end > node->parents_end_ns) {
			node->parents_end_ns = end;
		}
	}
	return 0;
}

void dependencies_unlink(struct dependencies *d, const struct dispatch_node *node, const struct schedule_arrival *a)
{
	for (size_t i = 0; i < a->after_count; i++) {
		struct dispatch_node *parent;
		arrival_ends_get(d->ends, a->after[i], &parent);
		if (parent && parent->children && parent->children->child == node) {
			struct dependency_edge *e = parent->children;
			parent->children = e->next;
			free(e);
		}
	}
}
