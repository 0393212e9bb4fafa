/* The values of a column of a Parquet file with their levels, one row group after another. One page of the column is
 * in memory, and its dictionary.
 *
 *     struct column_reader reader = {.column = &tree.columns[i], .file = &file};
 *     if (column_reader_begin(&reader, &group->chunks[i], number, &err) < 0) …
 *     while ((got = column_reader_peek(&reader, &err)) == 1) {
 *         … column_reader_def(&reader), column_reader_rep(&reader) …
 *         column_reader_take(&reader, &out);   // its JSON, or null
 *     }
 *     column_reader_release(&reader);
 *
 * Errors name the column, the row group and the page.
 */
#ifndef IPF_COLUMN_READER_H
#define IPF_COLUMN_READER_H

#include "parquet/page_values.h"
#include "parquet/schema_tree.h"

#define DICTIONARY_MAX ((size_t)128 << 20) /* bytes */

struct column_reader {
	const struct schema_column *column;
	struct page_file *file;

	size_t group; /* the row group, and the page in it, from 1 */
	int64_t page;
	int64_t at, end, values_left, codec; /* the column's in the row group: offsets, values of pages to come */

	struct page_memory bytes; /* the page's */
	int64_t left;             /* its values to come */
	struct bit_runs def, rep;
	struct page_values values;

	bool has_dictionary;
	struct page_memory dictionary_page, dictionary; /* its values as JSON: an array of struct slice */
	struct buffer text;                             /* their bytes */
	size_t text_held, dictionary_count;
	bool is_text; /* the values of the page are JSON already */

	/* decoded: `entry` is the next one, `value` the next that is not null */
	size_t count, entry, value;
	uint8_t defs[VALUES_MAX], reps[VALUES_MAX];
	union parquet_value decoded[VALUES_MAX];
};

/* Goes to the column in a row group. 0; -1: it cannot be read (IPF_INPUT). */
int column_reader_begin(struct column_reader *c, const struct column_chunk *chunk, size_t group, struct ipf_error *err);
/* Decodes more: 1, 0 at the end of the row group, -1. */
int column_reader_more(struct column_reader *c, struct ipf_error *err);
/* Is there another value in the row group? 1, 0, -1. */
static inline int column_reader_peek(struct column_reader *c, struct ipf_error *err)
{
	return c->entry < c->count ? 1 : column_reader_more(c, err);
}
/* The levels of the value peeked. */
static inline unsigned column_reader_def(const struct column_reader *c)
{
	return c->defs[c->entry];
}
static inline unsigned column_reader_rep(const struct column_reader *c)
{
	return c->reps[c->entry];
}
/* Appends the JSON of the value peeked, and goes on. */
void column_reader_take(struct column_reader *c, struct buffer *out);
/* Sets an error about the column at this page. -1. */
int column_reader_wrong(const struct column_reader *c, struct ipf_error *err, enum ipf_error_kind kind,
                        const char *why);
void column_reader_release(struct column_reader *c);

#endif
