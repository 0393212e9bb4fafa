/* Which blocks requests had when: by the starts of requests, and by their first tokens, in the order of time.
 *
 *     struct prefix_use use;
 *     prefix_use_init(&use, &tree);
 *     prefix_use_found(&use, node)                 // tokens of the prompt that requests so far have had
 *     prefix_use_start(&use, node, request);       // it started
 *     prefix_use_by_others(&use, node, request)    // tokens that others have had
 *     prefix_use_done(&use, node);                 // it has its first token: its prompt is computed
 *     prefix_use_computed(&use, node)              // tokens of the prompt that are computed for certain
 *     prefix_use_release(&use);
 */
#ifndef REPORT_PREFIX_USE_H
#define REPORT_PREFIX_USE_H

#include "workload/prefix_tree.h"

struct prefix_use {
	const struct prefix_tree *tree;
	uint32_t *user; /* for each node: the number of the only request that had it; PREFIX_SEVERAL; 0: none */
	bool *computed; /* for each node */
};
#define PREFIX_SEVERAL UINT32_MAX

int prefix_use_init(struct prefix_use *use, const struct prefix_tree *tree); /* -1: out of memory */
/* `request`: from 1. */
void prefix_use_start(struct prefix_use *use, uint32_t node, uint32_t request);
void prefix_use_done(struct prefix_use *use, uint32_t node);
uint32_t prefix_use_found(const struct prefix_use *use, uint32_t node);
uint32_t prefix_use_by_others(const struct prefix_use *use, uint32_t node, uint32_t request);
uint32_t prefix_use_computed(const struct prefix_use *use, uint32_t node);
void prefix_use_release(struct prefix_use *use);

#endif
