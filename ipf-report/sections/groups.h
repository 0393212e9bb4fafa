/* The groups of a report: the figures of each model, target, session and so on, which --by chooses.
 *
 *     struct group group;
 *     for (void *at = group_first(t, &group); at; at = group_next(t, &group, at))
 *         … group.title, group.members
 */
#ifndef REPORT_GROUPS_H
#define REPORT_GROUPS_H

#include "sections/sections.h"

struct group {
	char by[32];        /* "input_tokens" */
	const char *id;     /* "input-tokens" */
	const char *what;   /* a member: "model" */
	const char *title;  /* "Models" */
	json_t *members;    /* object: a block of figures of each, by name */
	size_t left_out;    /* members of which there are no figures */
	size_t front, back; /* bytes common to the ends of all names */
};

/* The groups to show: those asked for and, unless the report is brief, all there are. NULL: no more. */
void *group_first(const struct telling *t, struct group *group);
void *group_next(const struct telling *t, struct group *group, void *at);
/* The name of a member, without the part all of them share. */
const char *group_member(const struct group *group, const char *name, char shown[200]);
bool group_is_asked(const struct telling *t, const char *by);
const char *group_word(const char *by); /* a member of it: "input length" of "input_tokens" */

#endif
