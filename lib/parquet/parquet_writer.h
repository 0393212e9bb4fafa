/* Writes a Parquet file: a table of columns, row by row.
 *
 *     static const struct parquet_column columns[] = {
 *         {.name = "id", .kind = PARQUET_TEXT}, {.name = "after", .kind = PARQUET_INTEGER, .list = true}};
 *     struct parquet_writer *w = parquet_writer_new(columns, 2, &out);
 *
 *     parquet_writer_text(w, 0, slice_of("a"));
 *     parquet_writer_list(w, 1, 2);             // two values follow
 *     parquet_writer_integer(w, 1, 7);
 *     parquet_writer_integer(w, 1, 8);
 *     parquet_writer_end_row(w);                // columns without a value are null
 *
 *     parquet_writer_end(w, &note, 1);          // the footer
 *     parquet_writer_free(w);
 *
 * The bytes of the file are appended to `out`. The caller may write and empty it between rows, so a file of any length
 * takes the memory of one row group: some 32 MiB before compression, and the footer. If memory runs out, `out` has
 * failed.
 *
 * Pages are compressed with Zstandard. Each column of a row group has its least and its greatest value and its number
 * of null values. parquet.h reads such files. Specification: github.com/apache/parquet-format.
 */
#ifndef IPF_PARQUET_WRITER_H
#define IPF_PARQUET_WRITER_H

#include "buffer.h"

#include <stdint.h>

enum parquet_kind {
	PARQUET_BOOLEAN,
	PARQUET_INTEGER, /* 64 bits, signed */
	PARQUET_TIME,    /* nanoseconds since the epoch, UTC */
	PARQUET_TEXT,    /* UTF-8 */
	PARQUET_JSON     /* the text of a JSON value, UTF-8 */
};

struct parquet_column {
	const char *name;
	enum parquet_kind kind;
	bool list; /* its values are not null */
};

/* A text about the file, in its footer. */
struct parquet_note {
	const char *key;
	struct slice value;
};

struct parquet_writer;

/* Copies the columns. NULL: out of memory. */
struct parquet_writer *parquet_writer_new(const struct parquet_column *columns, size_t count, struct buffer *out);
/* Set a column of the row, once, or add a value to its list. A text has at most 1 GiB. */
void parquet_writer_integer(struct parquet_writer *w, size_t column, int64_t value); /* or PARQUET_TIME */
void parquet_writer_boolean(struct parquet_writer *w, size_t column, bool value);
void parquet_writer_text(struct parquet_writer *w, size_t column, struct slice value); /* or PARQUET_JSON */
/* The row has a list of so many values, maybe none. */
void parquet_writer_list(struct parquet_writer *w, size_t column, size_t count);
void parquet_writer_end_row(struct parquet_writer *w);
void parquet_writer_end(struct parquet_writer *w, const struct parquet_note *notes, size_t count);
void parquet_writer_free(struct parquet_writer *w); /* NULL is fine */

#endif
