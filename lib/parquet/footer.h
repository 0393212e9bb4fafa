/* The footer of a Parquet file: its schema as a list, and where the bytes of each column are.
 *
 *     struct footer footer;
 *     if (footer_parse(&footer, bytes, name, &err) < 0) …   // the bytes are borrowed
 *     footer_release(&footer);
 *
 * Nothing of it is checked against the file yet: schema_tree.h checks the schema, column_reader.h for the rest.
 * Specification: github.com/apache/parquet-format, src/main/thrift/parquet.thrift.
 */
#ifndef IPF_FOOTER_H
#define IPF_FOOTER_H

#include "buffer.h"
#include "error.h"
#include "parquet/format.h"

#include <stdbool.h>
#include <stdint.h>

#define FOOTER_MAX   ((size_t)64 << 20) /* bytes */
#define ELEMENTS_MAX 20000              /* the schema's */

/* The annotation of a type, the older and the newer form as one. */
enum annotation {
	NOTE_NONE,
	NOTE_STRING,
	NOTE_MAP,
	NOTE_LIST,
	NOTE_DECIMAL,
	NOTE_DATE,
	NOTE_TIME,
	NOTE_TIMESTAMP,
	NOTE_UNSIGNED,
	NOTE_JSON,
	NOTE_UUID,
	NOTE_FLOAT16,
	NOTE_OTHER
};

struct schema_element {
	struct slice name;
	int64_t children; /* 0: a column */
	int64_t type;     /* an enum physical_type, if it is one; -1: none */
	int64_t type_length;
	int64_t repetition;
	enum annotation note;
	int64_t scale;  /* a decimal's */
	int64_t digits; /* fraction digits of a time or a timestamp: 3, 6, 9 */
	bool utc;
};

/* The bytes of a column in a row group. */
struct column_chunk {
	int64_t type, codec, values;
	int64_t data_page, dictionary_page; /* offsets in the file; dictionary_page 0: none */
	int64_t bytes;
	bool described; /* it has metadata */
	bool encrypted;
	bool elsewhere; /* in another file */
};

struct row_group {
	int64_t rows;
	struct column_chunk *chunks;
	size_t count;
};

struct footer {
	struct schema_element *elements;
	size_t element_count;
	struct row_group *groups;
	size_t group_count;
	int64_t rows;
};

/* 0; -1: it is malformed (IPF_INPUT), or out of memory. */
int footer_parse(struct footer *footer, struct slice bytes, const char *name, struct ipf_error *err);
void footer_release(struct footer *footer);

#endif
