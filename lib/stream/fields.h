/* The members of a stream's line as a table. One table both reads and writes the line, in the table's order.
 *
 *     static const struct field fields[] = {
 *         REQUIRED_FIELD(FIELD_UINT, struct result, n),
 *         FIELD(FIELD_TEXT, struct result, finish),
 *     };
 *
 * For the typed readers and writers of this folder: trace.h, schedule.h, record.h, result.h.
 */
#ifndef IPF_FIELDS_H
#define IPF_FIELDS_H

#include "json/jdoc.h"
#include "json/jout.h"

#include <stdbool.h>
#include <stddef.h>

enum field_type {
	FIELD_INT,    /* int64_t; IPF_ABSENT if absent */
	FIELD_UINT,   /* the same, 0 or more */
	FIELD_TOKENS, /* the same, a number of tokens possible (token_count.h) */
	FIELD_BOOL,   /* bool; false is written only if required */
	FIELD_TEXT,   /* struct slice: the JSON verbatim, a text with its quotes; an absent slice if absent */
	FIELD_NAME,   /* the same for a name: without characters safe_text.h escapes */
	FIELD_LIST,
	FIELD_INTEGERS, /* the same for a list of integers of 0 or more */
	FIELD_MAP,
	FIELD_TAGS, /* a list or a map, all of whose names and texts are like a FIELD_NAME */
};

/* The largest integer of a field, so the sum of a few never overflows: in nanoseconds since 1970, the year 2043.
 */
#define FIELD_INT_MAX ((INT64_C(1) << 61) - 1)

/* The most fields of one table. */
enum { FIELDS_MAX = 192 };

struct field {
	const char *name;
	enum field_type type;
	size_t offset;
	bool required;
	const char *key; /* as fields_write writes it after another member: `,"name":` */
	size_t key_len;
};

#define NAMED_FIELD(name_, type_, struct_, member_, required_)                                                         \
	{                                                                                                                  \
		.name = name_, .type = type_, .offset = offsetof(struct_, member_), .required = required_,                     \
		.key = ",\"" name_ "\":", .key_len = sizeof name_ + 3                                                          \
	}
/* A row whose field has the name of the struct's member. */
#define FIELD(type_, struct_, member_)          NAMED_FIELD(#member_, type_, struct_, member_, false)
#define REQUIRED_FIELD(type_, struct_, member_) NAMED_FIELD(#member_, type_, struct_, member_, true)

/* A whole table, for those who read its contents. */
struct field_table {
	const struct field *fields;
	size_t count;
};
#define FIELD_TABLE(fields_)                                                                                           \
	{                                                                                                                  \
		.fields = fields_, .count = sizeof fields_ / sizeof *fields_                                                   \
	}
/* The members of the lines of each stream, in their order. */
extern const struct field_table trace_fields, schedule_fields, record_fields, record_connection_fields,
	record_attempt_fields, result_fields, result_error_fields;

/* Sets every field to absent, every bool to false. */
void fields_init(const struct field *fields, size_t count, void *object);
/* Reads the members of `map` into the object, which borrows from the document's text. Unknown members are ignored. -1:
 * err says `NAME: expected …` or `NAME: missing`. At most FIELDS_MAX fields. */
int fields_read(const struct field *fields, size_t count, void *object, const struct jdoc *doc, jdoc_id map,
                struct ipf_error *err);
/* The fields the last line had, in their order, and those it had not, integers first: nearly always those of the next
 * one. Zero-initialise. */
struct fields_shape {
	size_t count, absent_integers, absent_count;
	unsigned char list[FIELDS_MAX], absent[FIELDS_MAX];
};

/* The same for a line in the form that fields_write gives it, without a document: in a tenth of the time. False: it has
 * another form (other members or another order, spaces, null, a negative integer, a map, a list of anything but such
 * integers), or is wrong; the object is undefined then, and fields_read names the fault. For tables without FIELD_NAME,
 * of at most FIELDS_MAX fields. `shape`: of the lines of one stream and one table. */
bool fields_read_line(const struct field *fields, size_t count, void *object, struct slice line,
                      struct fields_shape *shape);
/* Writes the fields that are not absent as members of the map that is open in `w`. */
void fields_write(const struct field *fields, size_t count, const void *object, struct jout *w);

#endif
