/* A set of names, to detect ids occurring twice in the data. It keeps an 8-byte hash of each name, not the name: two
 * different names count as the same with a probability of about 1 in 10^19.
 *
 *     struct name_set ids = {0};
 *     if (name_set_add(&ids, id) == 0) …            // it occurs again
 *     if (name_set_check(&ids, &err) < 0) …
 *     name_set_release(&ids);
 *
 * Beyond its share of memory_limit.h, hashes go into a temporary file: sorted, so one read finds a name.
 */
#ifndef IPF_NAME_SET_H
#define IPF_NAME_SET_H

#include "buffer.h"
#include "error.h"

#include <stdint.h>

/* Zero-initialise. */
struct name_set {
	uint64_t *hashes; /* a table of those in memory; 0: free */
	size_t count, cap;
	struct name_file *file; /* the others; NULL: none */
	bool failed;            /* out of memory, or of disk; stays set */
	struct ipf_error error; /* why, unless memory ran out */
};

/* 1: the name is new; 0: it is in the set already. */
int name_set_add(struct name_set *names, struct slice name);
/* 0, or -1 if the set failed. Names may have been missed since. */
int name_set_check(const struct name_set *names, struct ipf_error *err);
void name_set_release(struct name_set *names);

#endif
