/* Names of members and columns common to many formats: one table, for readers and for notes about unused members.
 *
 *     jdoc_id node = member_of_kind(j, JDOC_ROOT, MEMBER_SYSTEM, &name);
 *     if (member_kind_of(name) == MEMBER_CONTEXT) …
 */
#ifndef PREP_MEMBER_NAMES_H
#define PREP_MEMBER_NAMES_H

#include "json/jdoc.h"

enum member_kind {
	MEMBER_OTHER,
	MEMBER_PROMPT,
	MEMBER_CONTEXT,
	MEMBER_CHOICES,
	MEMBER_SYSTEM,
	MEMBER_TOOLS,
	MEMBER_TIME,
	MEMBER_INPUT_TOKENS,
	MEMBER_OUTPUT_TOKENS,
	MEMBER_SESSION,
	MEMBER_MODEL,
	MEMBER_SAMPLING,
	MEMBER_KINDS
};

/* By the whole name; letters match in either case. */
enum member_kind member_kind_of(struct slice name);
/* The names of a kind, i = 0, 1, … until NULL: the best one comes first. */
const char *member_name_at(enum member_kind kind, size_t i);
/* The first of them in a map other than null. JDOC_NONE and NULL: none. */
jdoc_id member_of_kind(const struct jdoc *j, jdoc_id map, enum member_kind kind, const char **name);

#endif
