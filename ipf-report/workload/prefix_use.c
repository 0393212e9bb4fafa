#include "workload/prefix_use.h"

#include <stdlib.h>

int prefix_use_init(struct prefix_use *u, const struct prefix_tree *tree, int replicas)
{
	*u = (struct prefix_use){.tree = tree};
	u->user = calloc((size_t)tree->count + 1, sizeof *u->user);
	u->computed = calloc((size_t)tree->count + 1, sizeof *u->computed);
	if (replicas > 1)
		u->by = calloc((size_t)tree->count + 1, sizeof *u->by);
	return u->user && u->computed && (u->by || replicas <= 1) ? 0 : -1;
}

/* Who had a block had all before it, so a walk towards the root ends where nothing changes any more. */
void prefix_use_start(struct prefix_use *u, uint32_t node, uint32_t request)
{
	for (; node != PREFIX_ROOT && u->user[node] != PREFIX_SEVERAL; node = u->tree->nodes[node].parent)
		u->user[node] = u->user[node] && u->user[node] != request ? PREFIX_SEVERAL : request;
}

static uint64_t bit_of(int replica)
{
	return UINT64_C(1) << (replica & 63);
}

void prefix_use_done(struct prefix_use *u, uint32_t node, int replica)
{
	for (uint32_t i = node; u->by && replica >= 0 && i != PREFIX_ROOT && !(u->by[i] & bit_of(replica));
	     i = u->tree->nodes[i].parent)
		u->by[i] |= bit_of(replica);
	for (; node != PREFIX_ROOT && !u->computed[node]; node = u->tree->nodes[node].parent)
		u->computed[node] = true;
}

static uint32_t tokens_of(const struct prefix_use *u, uint32_t node)
{
	return node == PREFIX_ROOT ? 0 : u->tree->nodes[node].tokens;
}

uint32_t prefix_use_found(const struct prefix_use *u, uint32_t node)
{
	while (node != PREFIX_ROOT && !u->user[node])
		node = u->tree->nodes[node].parent;
	return tokens_of(u, node);
}

uint32_t prefix_use_by_others(const struct prefix_use *u, uint32_t node, uint32_t request)
{
	while (node != PREFIX_ROOT && (!u->user[node] || u->user[node] == request))
		node = u->tree->nodes[node].parent;
	return tokens_of(u, node);
}

uint32_t prefix_use_computed(const struct prefix_use *u, uint32_t node)
{
	while (node != PREFIX_ROOT && !u->computed[node])
		node = u->tree->nodes[node].parent;
	return tokens_of(u, node);
}

uint32_t prefix_use_computed_by(const struct prefix_use *u, uint32_t node, int replica)
{
	if (!u->by || replica < 0)
		return prefix_use_computed(u, node);
	while (node != PREFIX_ROOT && !(u->by[node] & bit_of(replica)))
		node = u->tree->nodes[node].parent;
	return tokens_of(u, node);
}

void prefix_use_release(struct prefix_use *u)
{
	free(u->user);
	free(u->computed);
	free(u->by);
}
