/* Which blocks stand side by side: those that some prompts have behind the same beginning. Each gets a place among its
 * siblings, in the order in which they were met, so that their texts can be made to differ from the first token on.
 *
 *     uint32_t place = prefix_siblings_place(&kin, parent, block);   // 0, 1, 2, … ; the same whenever the block comes
 * again
 */
#ifndef PREP_KIN_H
#define PREP_KIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PREFIX_SIBLINGS_ROOT UINT64_C(0) /* the parent of what begins a prompt */

struct prefix_siblings {
	struct kinsman *slots;
	size_t count, cap;
	bool failed; /* memory ran out: places are 0 from then on */
};

/* `block` is a key of 64 bits that stands for the block and all before it; `parent` that of the block before. */
uint32_t prefix_siblings_place(struct prefix_siblings *kin, uint64_t parent, uint64_t block);
void prefix_siblings_release(struct prefix_siblings *kin);

#endif
