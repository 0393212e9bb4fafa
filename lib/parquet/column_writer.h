/* A column of the row group being written: its finished pages, compressed, and the values of the next page.
 *
 *     column_writer_init(&c, &column, &packer);
 *     column_writer_reach(&c, row);                    // null up to this row, from 0
 *     column_writer_integer(&c, 5);
 *     …
 *     column_writer_reach(&c, rows);
 *     column_writer_flush(&c, offset, &out, &footer);  // the chunk, and its description; begins anew
 *     column_writer_release(&c);
 *
 * Values go into a dictionary as long as most of them are repeated and it stays small; later pages are plain. If memory
 * runs out, a buffer of it fails, and so does `out` when it is flushed.
 */
#ifndef IPF_COLUMN_WRITER_H
#define IPF_COLUMN_WRITER_H

#include "parquet/page_packer.h"
#include "parquet/parquet_writer.h"
#include "parquet/run_writer.h"
#include "parquet/thrift_writer.h"
#include "parquet/value_dictionary.h"

struct column_writer {
	const struct parquet_column *column;
	struct page_packer *packer; /* shared by all columns */
	int64_t rows;               /* in the row group, with a row whose list is not complete */
	size_t list_left;           /* values of the list to come */
	bool further;               /* the next value is not the first one of the list */

	/* the page */
	struct run_writer def, rep; /* levels, as in schema_tree.h */
	struct buffer values;       /* plain, but a byte for each boolean */
	int64_t entries, present;   /* entries: present values, null ones and empty lists */

	/* the row group */
	struct buffer pages;
	size_t plain_bytes; /* the pages, before compression */
	int64_t all_entries, all_present;
	struct value_dictionary dictionary;
	bool indexes, plain;                 /* pages have values by their index, plain ones */
	int64_t least, most;                 /* bounds of the present values: integers and booleans … */
	struct buffer first_text, last_text; /* … or texts */
};

enum physical_type column_type(const struct parquet_column *column);
/* Both are borrowed. */
void column_writer_init(struct column_writer *c, const struct parquet_column *column, struct page_packer *packer);
/* Adds null values up to the row, and ends a long page. */
void column_writer_reach(struct column_writer *c, int64_t row);
/* The value of the row, or the next one of its list. */
void column_writer_integer(struct column_writer *c, int64_t value); /* a boolean is 0 or 1 */
void column_writer_text(struct column_writer *c, struct slice value);
void column_writer_list(struct column_writer *c, size_t count);
/* Appends the chunk, which begins at this offset in the file, to `out`, and its description to the footer. Returns its
 * bytes before compression. */
size_t column_writer_flush(struct column_writer *c, int64_t offset, struct buffer *out, struct thrift_writer *footer);
void column_writer_release(struct column_writer *c);

#endif
