/* "Did you mean …?": the known name that is nearest to a mistyped one.
 *
 *     struct nearest near = {0};
 *     for (each known name)
 *         nearest_try(&near, typed, strlen(typed), name);
 *     if (near.name) …   // NULL where none is near enough to be worth saying
 */
#ifndef IPF_NEAREST_H
#define IPF_NEAREST_H

#include <stddef.h>

struct nearest {
	const char *name;
	size_t edits; /* between it and what was typed: characters inserted, removed, replaced, neighbours swapped */
};

/* Keeps `known` (borrowed) where it is nearer than what was tried before, the first of equals, and one edit and a
 * third of the typed length away at most. */
void nearest_try(struct nearest *near, const char *typed, size_t len, const char *known);

#endif
