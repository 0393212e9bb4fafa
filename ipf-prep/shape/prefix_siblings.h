/* Finds blocks following the same beginning of a prompt. These siblings are numbered in the order in which they are
 * registered, so their texts can differ from the first token on.
 *
 *     uint32_t place = prefix_siblings_place(&siblings, parent, block);   // 0, 1, 2, …; the same for the same block
 */
#ifndef PREP_PREFIX_SIBLINGS_H
#define PREP_PREFIX_SIBLINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PREFIX_SIBLINGS_ROOT UINT64_C(0) /* the parent of a block beginning a prompt */

struct prefix_siblings {
	struct sibling *slots; /* an open hash table */
	size_t count, cap;
	bool failed; /* memory ran out: places are 0 from then on */
};

/* The place of a block among its siblings; registers it if it is new. `block` is a 64-bit key of the block and
 * all blocks before it; `parent` is the key of the block before. */
uint32_t prefix_siblings_place(struct prefix_siblings *s, uint64_t parent, uint64_t block);
void prefix_siblings_release(struct prefix_siblings *s);

#endif
