#include "dispatch/dispatch_node.h"

#include "array.h"

#include <stdlib.h>

#define SPARES_MOST 4096

void node_list_put(struct node_list *list, struct dispatch_node *node)
{
	node->next = NULL;
	if (list->last)
		list->last->next = node;
	else
		list->first = node;
	list->last = node;
	list->count++;
}

struct dispatch_node *node_list_take(struct node_list *list)
{
	struct dispatch_node *node = list->first;
	if (!node)
		return NULL;
	list->first = node->next;
	if (!list->first)
		list->last = NULL;
	list->count--;
	return node;
}

static bool earlier(const struct dispatch_node *a, const struct dispatch_node *b)
{
	return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->n < b->n;
}

bool node_heap_reserve(struct node_heap *heap, size_t nodes)
{
	return array_room(heap->nodes, heap->cap, nodes + 1);
}

void node_heap_put(struct node_heap *heap, struct dispatch_node *node)
{
	size_t i = heap->count++;
	for (size_t up; i && earlier(node, heap->nodes[up = (i - 1) / 2]); i = up)
		heap->nodes[i] = heap->nodes[up];
	heap->nodes[i] = node;
	node->state = NODE_TIMED;
}

struct dispatch_node *node_heap_take(struct node_heap *heap)
{
	struct dispatch_node *top = heap->nodes[0], *last = heap->nodes[--heap->count];
	size_t i = 0;
	for (size_t down; (down = 2 * i + 1) < heap->count; i = down) {
		if (down + 1 < heap->count && earlier(heap->nodes[down + 1], heap->nodes[down]))
			down++;
		if (!earlier(heap->nodes[down], last))
			break;
		heap->nodes[i] = heap->nodes[down];
	}
	heap->nodes[i] = last;
	return top;
}

struct dispatch_node *node_spares_take(struct node_spares *spares)
{
	struct dispatch_node *node = spares->first;
	if (!node)
		return malloc(sizeof *node);
	spares->first = node->next;
	spares->count--;
	return node;
}

void node_spares_give(struct node_spares *spares, struct dispatch_node *node)
{
	for (struct dependency_edge *e = node->children, *next; e; e = next) {
		next = e->next;
		free(e);
	}
	if (spares->count == SPARES_MOST) {
		free(node);
		return;
	}
	node->next = spares->first;
	spares->first = node;
	spares->count++;
}

void node_spares_release(struct node_spares *spares)
{
	for (struct dispatch_node *node; (node = spares->first);) {
		spares->first = node->next;
		free(node);
	}
	*spares = (struct node_spares){0};
}
