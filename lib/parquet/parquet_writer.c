#include "parquet/parquet_writer.h"

#include "parquet/column_writer.h"
#include "version.h"

#include <endian.h>
#include <stdlib.h>

#define GROUP_BYTES ((size_t)32 << 20) /* a row group ends with so many, before compression, … */
#define GROUP_ROWS  (1 << 20)          /* … or so many rows */

struct parquet_writer {
	struct buffer *out;
	int64_t written; /* bytes, with those the caller has taken */
	struct parquet_column *columns;
	struct column_writer *writers;
	size_t count;
	struct page_packer packer;
	size_t group_bytes; /* values of the row group being written */
	int64_t group_rows, rows;
	struct buffer groups; /* their descriptions, for the footer */
	size_t group_count;
};

static void append(struct parquet_writer *w, const void *bytes, size_t len)
{
	buffer_append(w->out, bytes, len);
	w->written += (int64_t)len;
}

struct parquet_writer *parquet_writer_new(const struct parquet_column *columns, size_t count, struct buffer *out)
{
	struct parquet_writer *w = calloc(1, sizeof *w);
	if (!w)
		return NULL;
	w->columns = calloc(count, sizeof *w->columns);
	w->writers = calloc(count, sizeof *w->writers);
	if (!w->columns || !w->writers) {
		parquet_writer_free(w);
		return NULL;
	}
	w->count = count;
	for (size_t i = 0; i < count; i++) {
		w->columns[i] = columns[i];
		w->columns[i].name = strdup(columns[i].name);
		out->failed |= !w->columns[i].name;
		column_writer_init(&w->writers[i], &w->columns[i], &w->packer);
	}
	w->out = out;
	append(w, PARQUET_MAGIC, strlen(PARQUET_MAGIC));
	return w;
}

void parquet_writer_free(struct parquet_writer *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->count; i++) {
		column_writer_release(&w->writers[i]);
		free((char *)w->columns[i].name);
	}
	page_packer_release(&w->packer);
	buffer_release(&w->groups);
	free(w->columns);
	free(w->writers);
	free(w);
}

/* ---- rows -------------------------------------------------------------------------------------------------------- */

static struct column_writer *reach(struct parquet_writer *w, size_t column, size_t bytes)
{
	struct column_writer *c = &w->writers[column];
	column_writer_reach(c, w->group_rows);
	w->group_bytes += bytes;
	return c;
}

void parquet_writer_integer(struct parquet_writer *w, size_t column, int64_t value)
{
	column_writer_integer(reach(w, column, sizeof value), value);
}

void parquet_writer_boolean(struct parquet_writer *w, size_t column, bool value)
{
	column_writer_integer(reach(w, column, 1), value);
}

void parquet_writer_text(struct parquet_writer *w, size_t column, struct slice value)
{
	column_writer_text(reach(w, column, value.len + sizeof(uint32_t)), value);
}

void parquet_writer_list(struct parquet_writer *w, size_t column, size_t count)
{
	column_writer_list(reach(w, column, 1), count);
}

static void end_group(struct parquet_writer *w)
{
	struct thrift_writer footer = {.out = &w->groups};
	size_t plain = 0;
	if (w->group_rows == 0)
		return;
	thrift_put_struct(&footer, 0);
	thrift_put_list(&footer, 1, THRIFT_STRUCT, w->count);
	for (size_t i = 0; i < w->count; i++) {
		size_t before = w->out->len;
		column_writer_reach(&w->writers[i], w->group_rows);
		plain += column_writer_flush(&w->writers[i], w->written, w->out, &footer);
		w->written += (int64_t)(w->out->len - before);
	}
	thrift_put_integer(&footer, 2, THRIFT_I64, (int64_t)plain);
	thrift_put_integer(&footer, 3, THRIFT_I64, w->group_rows);
	thrift_end_struct(&footer);
	w->group_count++;
	w->group_rows = 0;
	w->group_bytes = 0;
}

void parquet_writer_end_row(struct parquet_writer *w)
{
	w->rows++;
	w->group_rows++;
	if (w->group_bytes >= GROUP_BYTES || w->group_rows >= GROUP_ROWS)
		end_group(w);
}

/* ---- the footer -------------------------------------------------------------------------------------------------- */

/* The annotation of a type: a number, and since the second version of the format a union, whose field is the kind. */
static const struct annotation_ids {
	int older, newer;
} list_annotation = {3, 3},
  annotations[] = {[PARQUET_TIME] = {-1, 8}, [PARQUET_TEXT] = {0, 1}, [PARQUET_JSON] = {19, 12}};

static void put_annotation(struct thrift_writer *t, struct annotation_ids ids)
{
	if (ids.newer == 0)
		return;
	if (ids.older >= 0)
		thrift_put_integer(t, 6, THRIFT_I32, ids.older);
	thrift_put_struct(t, 10);
	thrift_put_struct(t, ids.newer);
	if (ids.newer == annotations[PARQUET_TIME].newer) {
		thrift_put_bool(t, 1, true); /* UTC */
		thrift_put_struct(t, 2);
		thrift_put_struct(t, 3); /* nanoseconds */
		thrift_end_struct(t);
		thrift_end_struct(t);
	}
	thrift_end_struct(t);
	thrift_end_struct(t);
}

/* A group of `children`, or the root if the repetition is -1. */
static void put_group(struct thrift_writer *t, const char *name, int repetition, size_t children,
                      struct annotation_ids ids)
{
	thrift_put_struct(t, 0);
	if (repetition >= 0)
		thrift_put_integer(t, 3, THRIFT_I32, repetition);
	thrift_put_binary(t, 4, slice_of(name));
	thrift_put_integer(t, 5, THRIFT_I32, (int64_t)children);
	put_annotation(t, ids);
	thrift_end_struct(t);
}

static void put_column(struct thrift_writer *t, const struct parquet_column *c)
{
	static const struct annotation_ids none = {0, 0};
	if (c->list) {
		put_group(t, c->name, REPETITION_OPTIONAL, 1, list_annotation);
		put_group(t, PARQUET_LIST_GROUP, REPETITION_REPEATED, 1, none);
	}
	thrift_put_struct(t, 0);
	thrift_put_integer(t, 1, THRIFT_I32, column_type(c));
	thrift_put_integer(t, 3, THRIFT_I32, c->list ? REPETITION_REQUIRED : REPETITION_OPTIONAL);
	thrift_put_binary(t, 4, slice_of(c->list ? PARQUET_LIST_ELEMENT : c->name));
	put_annotation(t, annotations[c->kind]);
	thrift_end_struct(t);
}

static void put_schema(const struct parquet_writer *w, struct thrift_writer *t)
{
	size_t elements = 1;
	for (size_t i = 0; i < w->count; i++)
		elements += w->columns[i].list ? 3 : 1;
	thrift_put_list(t, 2, THRIFT_STRUCT, elements);
	put_group(t, "schema", -1, w->count, (struct annotation_ids){0, 0});
	for (size_t i = 0; i < w->count; i++)
		put_column(t, &w->columns[i]);
}

static void put_notes(struct thrift_writer *t, const struct parquet_note *notes, size_t count)
{
	if (count == 0)
		return;
	thrift_put_list(t, 5, THRIFT_STRUCT, count);
	for (size_t i = 0; i < count; i++) {
		thrift_put_struct(t, 0);
		thrift_put_binary(t, 1, slice_of(notes[i].key));
		thrift_put_binary(t, 2, notes[i].value);
		thrift_end_struct(t);
	}
}

/* The bounds in the statistics are by the order that each type defines. */
static void put_orders(const struct parquet_writer *w, struct thrift_writer *t)
{
	thrift_put_list(t, 7, THRIFT_STRUCT, w->count);
	for (size_t i = 0; i < w->count; i++) {
		thrift_put_struct(t, 0);
		thrift_put_struct(t, 1);
		thrift_end_struct(t);
		thrift_end_struct(t);
	}
}

void parquet_writer_end(struct parquet_writer *w, const struct parquet_note *notes, size_t count)
{
	struct buffer footer = {0};
	struct thrift_writer t = {.out = &footer};
	end_group(w);
	thrift_put_struct(&t, 0);
	thrift_put_integer(&t, 1, THRIFT_I32, 2);
	put_schema(w, &t);
	thrift_put_integer(&t, 3, THRIFT_I64, w->rows);
	thrift_put_list(&t, 4, THRIFT_STRUCT, w->group_count);
	buffer_slice(&footer, buffer_all(&w->groups));
	put_notes(&t, notes, count);
	thrift_put_binary(&t, 6, slice_of("ipf version " IPF_VERSION));
	put_orders(w, &t);
	thrift_end_struct(&t);
	uint32_t len = htole32((uint32_t)footer.len);
	append(w, footer.data, footer.len);
	append(w, &len, sizeof len);
	append(w, PARQUET_MAGIC, strlen(PARQUET_MAGIC));
	w->out->failed |= footer.failed || w->groups.failed;
	buffer_release(&footer);
}
