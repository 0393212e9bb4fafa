/* "Did you mean …?": finds the known name that is nearest to a mistyped one.
 *
 *     struct nearest near = {0};
 *     for (each known name)
 *         nearest_try(&near, typed, strlen(typed), name);
 *     if (near.name) …   // NULL: none is near enough
 */
#ifndef IPF_NEAREST_H
#define IPF_NEAREST_H

#include <stddef.h>

struct nearest {
	const char *name;
	size_t edits; /* its distance: characters inserted, removed or replaced, neighbours swapped */
};

/* Keeps `known`, which is borrowed, if it is nearer than the names before and at most one edit plus a third of the
 * typed length away. If names are equally near, the first one stays. */
void nearest_try(struct nearest *near, const char *typed, size_t len, const char *known);
/* The same, and if no name is near, one that the typed word spells out: "markdown" for "md". */
void nearest_try_short(struct nearest *near, const char *typed, size_t len, const char *known);

#endif
