/* CSV as RFC 4180 has it: commas, fields in double quotes where they need them, rows that end in CRLF or LF or with the
 * file.
 *
 *     struct csv csv = {.feed = &feed};
 *     if (csv_header(&csv, &err) != 1) …
 *     int at = csv_column(&csv, "TIMESTAMP");
 *     while ((got = csv_next(&csv, &err)) == 1) … csv.fields[at] …    // good until the next call
 *     csv_release(&csv);
 */
#ifndef PREP_CSV_H
#define PREP_CSV_H

#include "buffer.h"
#include "error.h"
#include "input/byte_window.h"

struct csv {
	struct byte_window *feed;
	struct slice *fields; /* of the row */
	size_t count, cap;
	int64_t line; /* 1-based, where the row begins */
	int64_t next_line;
	struct buffer text; /* the row's fields, without their quotes */
	size_t *ends;       /* of each field in it */
	char **columns;     /* the header's names */
	size_t column_count;
};

/* Starts on a file. */
void csv_begin(struct csv *csv, struct byte_window *feed);
/* The next row; empty lines are passed over: 1, 0 at the end, -1: a broken row (IPF_INPUT; the next call goes on behind
 * it), or what the feed says. */
int csv_next(struct csv *csv, struct ipf_error *err);
/* Reads a row as the header. */
int csv_header(struct csv *csv, struct ipf_error *err);
/* The place of a column of the header, -1 where there is none of that name. */
int csv_column(const struct csv *csv, const char *name);
void csv_release(struct csv *csv);

#endif
