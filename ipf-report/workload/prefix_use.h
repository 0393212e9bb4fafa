/* Which blocks requests had when: by the starts of requests, and by their first tokens, in the order of time.
 *
 *     struct prefix_use use;
 *     prefix_use_init(&use, &tree, replicas);
 *     prefix_use_found(&use, node)                 // tokens of the prompt requests so far have had
 *     prefix_use_start(&use, node, request);       // it started
 *     prefix_use_by_others(&use, node, request)    // tokens others have had
 *     prefix_use_done(&use, node, replica);        // it has its first token: its prompt is computed, by this replica
 *     prefix_use_computed(&use, node)              // tokens of the prompt that are computed for certain
 *     prefix_use_computed_by(&use, node, replica)  // by this one
 *     prefix_use_release(&use);
 */
#ifndef REPORT_PREFIX_USE_H
#define REPORT_PREFIX_USE_H

#include "stats/prefix_tree.h"

struct prefix_use {
	const struct prefix_tree *tree;
	uint32_t *user; /* for each node: the number of the only request that had it; PREFIX_SEVERAL; 0: none */
	bool *computed; /* for each node */
	/* for each node a bit for each replica that computed it, the same one for replicas 64 apart; NULL: there is one */
	uint64_t *by;
};
#define PREFIX_SEVERAL UINT32_MAX

/* `replicas`: how many there are. -1: out of memory. */
int prefix_use_init(struct prefix_use *use, const struct prefix_tree *tree, int replicas);
/* `request`: from 1. */
void prefix_use_start(struct prefix_use *use, uint32_t node, uint32_t request);
/* `replica`: from 0; -1: not known. */
void prefix_use_done(struct prefix_use *use, uint32_t node, int replica);
uint32_t prefix_use_found(const struct prefix_use *use, uint32_t node);
uint32_t prefix_use_by_others(const struct prefix_use *use, uint32_t node, uint32_t request);
uint32_t prefix_use_computed(const struct prefix_use *use, uint32_t node);
/* For an unknown replica, and if there is one only: by any. */
uint32_t prefix_use_computed_by(const struct prefix_use *use, uint32_t node, int replica);
void prefix_use_release(struct prefix_use *use);

#endif
