/* Deadlines of requests in flight. Most kinds of deadlines have a constant length, so those of a kind expire in the
 * order in which they were set, and setting one costs little; an earlier one is moved before later ones. A deadline
 * need not be removed when its request ends: the caller skips it when it expires.
 */
#ifndef IPF_DEADLINES_H
#define IPF_DEADLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct deadline {
	int64_t at_ns;
	void *owner;
	uint64_t serial; /* the deadline's owner; a new serial means the old one has ended */
};

struct deadlines;

struct deadlines *deadlines_new(size_t kinds); /* NULL: out of memory */
void deadlines_free(struct deadlines *d);      /* NULL is fine */
/* False: out of memory. */
bool deadlines_set(struct deadlines *d, size_t kind, struct deadline deadline);
/* The next deadline of the kind; NULL: there is none. */
const struct deadline *deadlines_first(const struct deadlines *d, size_t kind);
void deadlines_drop_first(struct deadlines *d, size_t kind);

#endif
