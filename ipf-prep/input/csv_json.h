/* Rows of CSV as JSON objects of strings, made without being parsed again.
 *
 *     struct csv_json rows = {0};
 *     csv_json_begin(&rows, &csv);                          // after the header
 *     if (csv_json_row(&rows, &csv, &json, &err) < 0) …     // for each row of as many fields as columns
 *     … jdoc_get(&json, JDOC_ROOT, "question") …            // valid until the next row
 *     csv_json_release(&rows);
 */
#ifndef PREP_CSV_JSON_H
#define PREP_CSV_JSON_H

#include "input/csv.h"
#include "json/jdoc.h"

struct csv_json {
	struct buffer text; /* the names of the columns, then the fields of a row */
	size_t names_len;
	size_t *name_ends; /* where the name of each column ends in the text; it begins at the end of the one before */
	bool *name_escaped;
};

/* 0, or -1 when out of memory. */
int csv_json_begin(struct csv_json *c, const struct csv *csv);
/* -1: no memory, or IPF_INPUT for a row in invalid UTF-8 or too long. */
int csv_json_row(struct csv_json *c, const struct csv *csv, struct jdoc *json, struct ipf_error *err);
/* The node of a column's value. */
static inline jdoc_id csv_json_node(int32_t column)
{
	return (jdoc_id)(2 + 2 * column);
}
void csv_json_release(struct csv_json *c);

#endif
