/* How a format lays out its records, as a file of JSON says (ipf-prep/formats/NAME.json, or the user's own): which
 * files are of the format, where the requests are in a record, and where each field of a request is.
 * ipf-prep-formats(5), "A FORMAT OF YOUR OWN", has the members.
 *
 *     struct layout *layout = layout_load("mine.json", text, &err);
 *     const struct source_format *format = &layout->format;     // as any other format, see sources/source.h
 *     layout_free(layout);
 */
#ifndef PREP_LAYOUT_H
#define PREP_LAYOUT_H

#include "sources/field_names.h"
#include "sources/place.h"
#include "sources/source.h"

/* One of the places where a field may be. */
struct mapping {
	enum field field;
	struct place place;
	size_t next;     /* the number of the next mapping of this field; the number of all: there is none */
	int64_t unit_ns; /* a time's */
	char *none;      /* texts standing for no value, each ending in NUL, and an empty one; NULL: there are none */
};

struct layout_tag {
	char *name;
	struct mapping mapping;
};

/* Where the fields of a request are, from one node on. */
struct layout_fields {
	struct mapping *mappings;
	size_t count, first_of[FIELDS];
	uint64_t present, required; /* bits of fields */
	int64_t constant[FIELDS];   /* numbers common to all requests; IPF_ABSENT */
	char *join;                 /* between the texts of all places of the prompt; NULL: only the first one counts */
	struct layout_tag *tags;
	size_t tag_count;
};

/* A condition on a record, or on the beginning of a file. Places and texts with `|` between are alternatives. */
struct layout_condition {
	struct place *has, *lacks; /* lead to a value, or do not */
	size_t has_count, lacks_count;
	struct place *is; /* at most one, leading to one of `texts` */
	size_t is_count;
	bool json, csv;         /* files of JSON or CSV only */
	char **texts, **within; /* `within`: occur in the beginning of the file */
	size_t text_count, within_count;
};

/* The turns of a conversation. */
struct layout_turns {
	struct place *lists; /* where the list of turns may be; none: a record is one request */
	size_t list_count;
	struct layout_fields fields; /* each turn's */
	char **roles[3];             /* by enum role: the names of each; all NULL: all turns are the user's */
	size_t role_counts[3];
	bool merged;   /* a user's messages before the model's answer are one turn */
	bool answered; /* a turn without an answer ends the conversation before it */
	bool whole;    /* each turn has the whole prompt, not only its new messages */
};

enum layout_origin {
	ORIGIN_ZERO,
	ORIGIN_FILE,
	ORIGIN_DATA
}; /* from when arrivals count: 0, the first of a file, or of all */

struct layout {
	struct source_format format;
	enum source_group group;
	char *path; /* the file's, as given */
	char *name, *about, *page, *source, *ignored, *filled;
	struct layout_condition *recognised; /* one of them holds */
	size_t recognised_count;
	struct layout_condition *requests; /* one of them holds for a record of a request; none: all are */
	size_t requests_count;
	char *other;           /* why other records are left out */
	struct place *records; /* lists of records in a record, the first of which counts; none: it is one */
	size_t record_count;
	struct layout_fields fields;
	struct layout_turns turns;
	enum layout_origin origin;
	bool ordered; /* records are in the order of their arrivals */
	bool guessed; /* the fields are where they usually are, and --field says it better */
};

/* Parses a description: NULL, and an error of kind IPF_INPUT naming the file and the member. */
struct layout *layout_load(const char *file, const char *text, struct ipf_error *err);
void layout_free(struct layout *layout); /* NULL is fine */

/* Fills layout->format. */
void layout_to_format(struct layout *layout);

/* Adds a mapping NAME=PLACE as --field gives it: the name may end in the unit of a time. -1: IPF_USAGE. */
int layout_map_field(struct layout_fields *fields, const char *text, struct ipf_error *err);
/* Adds a place where a field may be. -1: no memory, or IPF_USAGE as place_parse(). */
int layout_map_place(struct layout_fields *fields, enum field field, int64_t unit_ns, const char *place,
                     struct ipf_error *err);
/* To be called after the last mapping. */
void layout_fields_link(struct layout_fields *fields);
void layout_fields_release(struct layout_fields *fields);

static inline bool layout_maps(const struct layout_fields *fields, enum field field)
{
	return fields->present & FIELD_BIT(field);
}

/* Does the beginning of a file match? */
bool layout_recognises(const struct layout *layout, const struct sniff *sniff);
/* Does one of the conditions hold for a node? */
bool layout_conditions_hold(const struct layout_condition *list, size_t count, const struct jdoc *j, jdoc_id node);

#endif
