/* The members of a format's line as a table: one table reads and writes it, in its order.
 *
 *     static const struct field fields[] = {
 *         {"n", FIELD_UINT, offsetof(struct result, n), true},
 *         {"finish", FIELD_TEXT, offsetof(struct result, finish), false},
 *     };
 *
 * Private to the typed readers and writers of lib/.
 */
#ifndef IPF_FIELDS_H
#define IPF_FIELDS_H

#include "json/jdoc.h"
#include "json/jout.h"

#include <stdbool.h>
#include <stddef.h>

enum field_type {
	FIELD_INT,  /* int64_t, IPF_ABSENT when absent */
	FIELD_UINT, /* the same, 0 or more */
	FIELD_BOOL, /* bool; written only where true unless required */
	FIELD_TEXT, /* struct slice of the JSON as it stands, absent when absent */
	FIELD_LIST,
	FIELD_MAP,
};

struct field {
	const char *name;
	enum field_type type;
	size_t offset;
	bool required;
};

/* Sets every field to absent (false). */
void fields_init(const struct field *fields, size_t count, void *object);
/* Reads the members of `map` into the object; members that no field names are left alone; 0, or -1 with `name: expected
 * …` or `name: missing`. */
int fields_read(const struct field *fields, size_t count, void *object, const struct jdoc *doc, jdoc_id map,
                struct ipf_error *err);
/* Writes what is there as members of the map that is open in `w`. */
void fields_write(const struct field *fields, size_t count, const void *object, struct jout *w);

#endif
