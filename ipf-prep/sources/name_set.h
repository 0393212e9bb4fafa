/* Has this name been there? For names that the data give and that must not stand twice. Eight bytes a name are kept,
 * not the names themselves: two names in 10^19 are taken for the same.
 */
#ifndef PREP_NAMES_H
#define PREP_NAMES_H

#include "buffer.h"

#include <stdint.h>

struct name_set {
	uint64_t *hashes; /* 0: free */
	size_t count, cap;
	bool failed; /* memory ran out: sticky */
};

/* 1: it is new; 0: it has been there. */
int name_set_add(struct name_set *names, struct slice name);
void name_set_release(struct name_set *names);

#endif
