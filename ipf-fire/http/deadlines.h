/* Deadlines of things under way, of a few kinds with a constant length each: so each kind's come in the order in which
 * they were set. What has ended meanwhile need not be taken out: its deadline is passed over. Setting one costs next to
 * nothing.
 */
#ifndef IPF_DEADLINES_H
#define IPF_DEADLINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct deadline {
	int64_t at_ns;
	void *owner;
	uint64_t serial; /* of what it was set for: another one means that it is over */
};

struct deadlines;

struct deadlines *deadlines_new(size_t kinds); /* NULL: out of memory */
void deadlines_free(struct deadlines *a);      /* NULL is fine */
/* false: out of memory. Within a kind at_ns never falls. */
bool deadlines_set(struct deadlines *a, size_t kind, struct deadline deadline);
/* The next deadline of the kind; NULL. */
const struct deadline *deadlines_first(const struct deadlines *a, size_t kind);
void deadlines_drop_first(struct deadlines *a, size_t kind); /* the first one */

#endif
