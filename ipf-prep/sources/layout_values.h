/* Values of a record by field: their places in a layout, and the rules for texts, names, numbers of tokens and times. A
 * number may be a text, as all values of CSV are; an empty text is no number, no name and no time.
 *
 *     struct layout_view view = layout_view(&layout->fields, json, JDOC_ROOT, JDOC_ROOT);
 *     int got = view_text(&view, FIELD_PROMPT, draft, &prompt, &err);   // 1, 0: there is none, -1: of another type
 */
#ifndef PREP_LAYOUT_VALUES_H
#define PREP_LAYOUT_VALUES_H

#include "sources/layout.h"

/* Some fields, as they are from a node on. */
struct layout_view {
	const struct layout_fields *fields;
	const struct jdoc *j;
	jdoc_id node, record;   /* `record` is the whole one, of which `node` may be an element */
	uint64_t bits;          /* the node's members' */
	int64_t column;         /* the node is an object of lists: the index in each; -1: it is not */
	bool csv;               /* all values are texts */
	const int32_t *columns; /* a CSV row's: the column of each mapping and then of each tag, -1: there is none; NULL:
	                         * not known */
};

struct layout_view layout_view(const struct layout_fields *fields, const struct jdoc *j, jdoc_id node, jdoc_id record);

/* The same for a row of CSV whose columns are known. */
static inline struct layout_view layout_row_view(const struct layout_fields *fields, const struct jdoc *j,
                                                 const int32_t *columns)
{
	return (struct layout_view){.fields = fields, .j = j, .column = -1, .csv = true, .columns = columns};
}

jdoc_id view_at(const struct layout_view *v, const struct mapping *m);
/* The field's value: the first mapping's leading to one. *m is the mapping, or the last one tried; NULL if the field
 * has none. */
jdoc_id view_find_mapped(const struct layout_view *v, enum field field, const struct mapping **m);
static inline jdoc_id view_find(const struct layout_view *v, enum field field, const struct mapping **m)
{
	*m = NULL;
	return layout_maps(v->fields, field) ? view_find_mapped(v, field, m) : JDOC_NONE;
}
/* `PLACE: missing (also as PLACE, …)`: -1. */
int view_missing(const struct layout_view *v, enum field field, struct ipf_error *err);
/* Are all required fields of the set there? A session may be null. 0 or -1. */
int view_check_required(const struct layout_view *v, uint64_t set, struct ipf_error *err);

/* A text, or a list of texts, one a line. */
bool node_is_text(const struct jdoc *j, jdoc_id node);
int node_text(struct draft *d, const struct jdoc *j, jdoc_id node, const char *shown, struct slice *text,
              struct ipf_error *err);
int view_text(const struct layout_view *v, enum field field, struct draft *d, struct slice *text,
              struct ipf_error *err);
int view_name(const struct layout_view *v, enum field field, struct draft *d, struct slice *name,
              struct ipf_error *err);
int view_tokens(const struct layout_view *v, enum field field, int64_t *count, struct ipf_error *err);
int view_time(const struct layout_view *v, enum field field, struct draft *d, int64_t *ns, struct ipf_error *err);
/* 1: true or 1; 0: false, 0 or nothing; -1. */
int view_flag(const struct layout_view *v, enum field field, struct ipf_error *err);
/* The tags: an object of texts and numbers. Absent if none of them has a value. */
struct slice view_tags(const struct layout_view *v, struct draft *d);

#endif
