/* Where a value is in a record: a JSON Pointer (RFC 6901), or the plain name of a member or column.
 *
 *     struct place p;
 *     if (place_parse(&p, "/answers/text/0", &err) < 0) …
 *     jdoc_id node = place_find(&p, json, JDOC_ROOT);
 *     place_release(&p);
 *
 * A step into a list is an index, `*` (every element: place_each), or `member=value`, the first element with this text
 * in this member. A place beginning with `^/` starts at the whole record rather than at an element of its list.
 */
#ifndef PREP_PLACE_H
#define PREP_PLACE_H

#include "error.h"
#include "json/jdoc.h"

struct place {
	char *shown;    /* as given, without `^/` */
	char *steps;    /* the reference tokens, unescaped, each ending in NUL */
	size_t count;   /* their number; 0: the whole */
	uint64_t first; /* the bit of the first one, see place_bits(); 0: none */
	bool outer;
	bool or_next; /* the next one of its list is an alternative */
};

/* -1: no memory, or IPF_USAGE, `"~" is written "~0" in a JSON Pointer, got "…"`. Release it in any case. */
int place_parse(struct place *p, const char *text, struct ipf_error *err);
void place_release(struct place *p);

/* The node, or JDOC_NONE. */
jdoc_id place_find(const struct place *p, const struct jdoc *j, jdoc_id from);
/* Calls for each node of a place with or without `*`, until one returns other than 0, which is returned. -1 and an
 * error if it is no list. */
struct place_walk {
	const struct place *place;
	const struct jdoc *j;
	int (*found)(jdoc_id node, void *data);
	void *data;
	struct ipf_error *err;
	bool exists; /* set if all steps before the first `*` lead to a node */
};
int place_each(struct place_walk *walk, jdoc_id from);

/* Bits of all members of a map: a place whose first bit is not among them leads nowhere. */
uint64_t place_bits(const struct jdoc *j, jdoc_id map);

#endif
