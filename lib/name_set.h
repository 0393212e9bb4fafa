/* A set of names, to detect ids that occur twice in the data. It keeps an 8-byte hash of each name, not the name: two
 * different names count as the same with a probability of about 1 in 10^19.
 */
#ifndef IPF_NAME_SET_H
#define IPF_NAME_SET_H

#include "buffer.h"

#include <stdint.h>

struct name_set {
	uint64_t *hashes; /* 0: free */
	size_t count, cap;
	bool failed; /* out of memory; stays set */
};

/* 1: the name is new; 0: it is in the set already. */
int name_set_add(struct name_set *names, struct slice name);
void name_set_release(struct name_set *names);

#endif
