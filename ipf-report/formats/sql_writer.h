/* Writes statements that SQLite and PostgreSQL execute alike.
 *
 *     struct sql_writer w = {.out = out, .to = report->output};
 *     sql_create(&w, &table);
 *     for each row: sql_row(&w, &table); sql_text(&w, name); sql_real(&w, value); sql_row_end(&w);
 *     sql_rows_end(&w);
 *
 * Rows become INSERT statements of limited length. Texts from outside are written as safe_text.h shows them, so a table
 * can be printed on a terminal; nothing in them ends a literal, whatever standard_conforming_strings is.
 */
#ifndef REPORT_SQL_WRITER_H
#define REPORT_SQL_WRITER_H

#include "cli/report_output.h"

#include <stdint.h>

enum sql_type { SQL_TEXT, SQL_INTEGER, SQL_REAL, SQL_BOOLEAN, SQL_TIME };

struct sql_column {
	const char *name;
	enum sql_type type;
	const char *note; /* a comment in the schema: the unit; NULL: none */
	const char *from; /* where format_sql.c has the value from */
};

struct sql_table {
	const char *name;
	const struct sql_column *columns;
	size_t count;
	size_t key; /* this many first columns are the primary key */
};

struct sql_writer {
	struct buffer *out;
	struct report_output *to;      /* takes long texts; NULL: the buffer keeps all */
	const struct sql_table *table; /* that the open INSERT is for */
	size_t rows, begin;            /* for the open INSERT */
	bool comma;
	bool stopped; /* nothing more can be written */
};

/* CREATE TABLE IF NOT EXISTS. */
void sql_create(struct sql_writer *w, const struct sql_table *table);
/* Deletes the rows whose first column is this text. It names all columns, so a table of another version, which lacks
 * one, is an error before anything is changed. */
void sql_delete(struct sql_writer *w, const struct sql_table *table, struct slice first);
/* Begins a row. A row whose key is there already is ignored by the database: the first one counts. */
void sql_row(struct sql_writer *w, const struct sql_table *table);
void sql_row_end(struct sql_writer *w);
/* Ends the last statement. */
void sql_rows_end(struct sql_writer *w);

/* The values of a row, in the order of the columns. */
void sql_null(struct sql_writer *w);
void sql_integer(struct sql_writer *w, int64_t value);
void sql_real(struct sql_writer *w, double value); /* NULL unless finite */
void sql_boolean(struct sql_writer *w, bool value);
void sql_text(struct sql_writer *w, struct slice text); /* absent: NULL */
void sql_time(struct sql_writer *w, int64_t unix_ns);   /* to the millisecond, in UTC */

/* Appends a text as a literal. */
void sql_literal(struct buffer *out, struct slice text);

#endif
