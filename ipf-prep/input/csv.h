/* CSV by RFC 4180: fields separated by commas, or by the semicolons, tabs or bars the header has, in double quotes if
 * they need it; rows end in CRLF, LF or with the file.
 *
 *     struct csv csv = {0};
 *     csv_begin(&csv, &window);
 *     if (csv_header(&csv, &err) != 1) …
 *     int column = csv_column(&csv, "TIMESTAMP");
 *     while ((got = csv_next(&csv, &err)) == 1) … csv.fields[column] …    // valid until the window is used again
 *     csv_release(&csv);
 */
#ifndef PREP_CSV_H
#define PREP_CSV_H

#include "buffer.h"
#include "error.h"
#include "input/byte_window.h"

struct csv {
	struct byte_window *window;
	char separator;
	struct slice *fields; /* the row's */
	size_t count, cap;
	int64_t line;       /* on which the row begins, from 1 */
	int64_t next_line;  /* on which the next row begins */
	struct buffer text; /* those fields of the row with quotes within */
	size_t *in_text;    /* each field's: where it begins in `text`, plus 1; 0: it stands in the window */
	char **columns;     /* the names in the header */
	bool *used;         /* each column's: was it looked up? */
	size_t column_count;
};

/* Begins a file, with commas until csv_header finds another separator. */
void csv_begin(struct csv *csv, struct byte_window *window);
/* Reads the next row, skipping empty lines: 1, 0 at the end, -1 if the row is malformed (IPF_INPUT; the next call
 * continues after it) or cannot be read. */
int csv_next(struct csv *csv, struct ipf_error *err);
/* Reads a row as the header, without a byte order mark: at most 16 MiB. No row has more than 65536 fields. */
int csv_header(struct csv *csv, struct ipf_error *err);
/* The index of a column by its name in the header, which is then used; -1 if there is none. */
int csv_column(const struct csv *csv, const char *name);
void csv_release(struct csv *csv);

#endif
