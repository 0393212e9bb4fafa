#include "parquet/parquet.h"

#include "parquet/column_reader.h"
#include "stream/stream.h"

#include <endian.h>
#include <stdlib.h>
#include <unistd.h>

#define TAIL    8                  /* the length of the footer, and the four letters again */
#define AT_ONCE ((size_t)64 << 10) /* bytes of rows made before they are given */

struct parquet {
	char *name;
	int64_t size;
	struct page_file file;
	struct footer footer;
	struct page_memory footer_bytes;
	struct schema_tree tree;
	struct column_reader *readers; /* one for each column */
	size_t group;                  /* the row groups begun */
	int64_t rows_left;             /* rows in the present row group */
	int64_t rows_done;
	struct buffer rows; /* whole rows, then the present one */
	size_t row_max;
	size_t given, row; /* the begin of the bytes to give, and the present row */
	struct ipf_error failed;
};

bool parquet_begins(struct slice head)
{
	if (head.len < PARQUET_HEAD || (memcmp(head.data, "PAR1", 4) != 0 && memcmp(head.data, "PARE", 4) != 0))
		return false;
	unsigned char next = (unsigned char)head.data[4];
	return next < 0x20 && next != '\n' && next != '\r' && next != '\t';
}

/* ---- a row ------------------------------------------------------------------------------------------------------- */

static int wrong(const struct column_reader *c, struct ipf_error *err, const char *why)
{
	return column_reader_wrong(c, err, IPF_INPUT, why);
}

/* Checks the column has a value whose levels fit its neighbours. */
static int expect(struct column_reader *c, unsigned rep, unsigned def, struct ipf_error *err)
{
	int got = column_reader_peek(c, err);
	if (got < 0)
		return -1;
	if (got == 0)
		return wrong(c, err, "it has fewer values than rows");
	if (column_reader_rep(c) != rep || column_reader_def(c) < def)
		return wrong(c, err, "its levels do not fit those of other columns");
	return 0;
}

/* Skips an absent value: each column in the node has an entry for it. */
static int put_absent(struct parquet *p, const struct schema_node *n, unsigned rep, const char *text,
                      struct ipf_error *err)
{
	unsigned def = column_reader_def(&p->readers[n->column]);
	for (size_t i = n->column; i < n->column + n->columns; i++) {
		struct column_reader *c = &p->readers[i];
		if (expect(c, rep, def, err) < 0)
			return -1;
		if (column_reader_def(c) != def)
			return wrong(c, err, "its levels do not fit those of other columns");
		c->entry++;
	}
	buffer_text(&p->rows, text);
	return 0;
}

static int put_node(struct parquet *p, const struct schema_node *n, unsigned rep, unsigned def, struct ipf_error *err);

static int put_members(struct parquet *p, const struct schema_node *n, unsigned rep, struct ipf_error *err)
{
	char before = '{';
	for (const struct schema_node *member = n->child; member; member = member->next) {
		buffer_byte(&p->rows, before);
		buffer_append(&p->rows, member->key, member->key_len);
		if (put_node(p, member, rep, n->def, err) < 0)
			return -1;
		before = ',';
	}
	buffer_byte(&p->rows, '}');
	return 0;
}

/* The key of a map is a text in JSON, whatever it is. */
static int put_entry(struct parquet *p, const struct schema_node *map, unsigned rep, struct ipf_error *err)
{
	size_t from = p->rows.len;
	if (put_node(p, map->child, rep, map->inner_def, err) < 0)
		return -1;
	if (!p->rows.failed && p->rows.data[from] != '"') {
		buffer_text(&p->rows, "\"\"");
		if (p->rows.failed)
			return ipf_error_memory(err);
		memmove(p->rows.data + from + 1, p->rows.data + from, p->rows.len - from - 2);
		p->rows.data[from] = '"';
		p->rows.data[p->rows.len - 1] = '"';
	}
	buffer_byte(&p->rows, ':');
	if (map->child->next)
		return put_node(p, map->child->next, rep, map->inner_def, err);
	buffer_text(&p->rows, "null");
	return 0;
}

static int put_list(struct parquet *p, const struct schema_node *n, unsigned rep, struct ipf_error *err)
{
	struct column_reader *first = &p->readers[n->column];
	bool map = n->kind == NODE_MAP;
	int got = 1;
	if (column_reader_def(first) < n->inner_def)
		return put_absent(p, n, rep, map ? "{}" : "[]", err);
	buffer_byte(&p->rows, map ? '{' : '[');
	for (unsigned at = rep; got == 1 && (at == rep || column_reader_rep(first) == at);) {
		if ((map ? put_entry(p, n, at, err) : put_node(p, n->child, at, n->inner_def, err)) < 0)
			return -1;
		if ((got = column_reader_peek(first, err)) < 0)
			return -1;
		at = n->inner_rep;
		if (got == 1 && column_reader_rep(first) == at)
			buffer_byte(&p->rows, ',');
	}
	buffer_byte(&p->rows, map ? '}' : ']');
	return 0;
}

/* Writes a value in others, which are there from the definition level `def` on. */
static int put_node(struct parquet *p, const struct schema_node *n, unsigned rep, unsigned def, struct ipf_error *err)
{
	struct column_reader *c = &p->readers[n->column];
	if (expect(c, rep, def, err) < 0)
		return -1;
	if (p->rows.len - p->row > p->row_max)
		return ipf_error_set(err, IPF_INPUT, "row %lld has more than %zu MiB as JSON; --max-line allows longer ones",
		                     (long long)p->rows_done, p->row_max >> 20);
	if (n->kind == NODE_VALUE) {
		column_reader_take(c, &p->rows);
		return 0;
	}
	if (column_reader_def(c) < n->def)
		return put_absent(p, n, rep, "null", err);
	return n->kind == NODE_OBJECT ? put_members(p, n, rep, err) : put_list(p, n, rep, err);
}

/* ---- row groups -------------------------------------------------------------------------------------------------- */

static int begin_group(struct parquet *p, struct ipf_error *err)
{
	const struct row_group *g = &p->footer.groups[p->group++];
	if (g->count != p->tree.column_count || g->rows < 0)
		return ipf_error_set(err, IPF_INPUT, "row group %zu of the Parquet file has %zu columns instead of %zu",
		                     p->group, g->count, p->tree.column_count);
	for (size_t i = 0; i < g->count; i++)
		if (column_reader_begin(&p->readers[i], &g->chunks[i], p->group, err) < 0)
			return -1;
	p->rows_left = g->rows;
	return 0;
}

static int end_group(struct parquet *p, struct ipf_error *err)
{
	for (size_t i = 0; p->group && i < p->tree.column_count; i++) {
		int got = column_reader_peek(&p->readers[i], err);
		if (got != 0)
			return got < 0 ? -1 : wrong(&p->readers[i], err, "it has more values than rows");
	}
	return 0;
}

/* Appends a row: 1, 0 at the end, -1. */
static int put_row(struct parquet *p, struct ipf_error *err)
{
	while (p->rows_left == 0) {
		if (end_group(p, err) < 0)
			return -1;
		if (p->group == p->footer.group_count)
			return 0;
		if (begin_group(p, err) < 0)
			return -1;
	}
	p->rows_left--;
	p->rows_done++;
	if (put_members(p, p->tree.root, 0, err) < 0)
		return -1;
	buffer_byte(&p->rows, '\n');
	return p->rows.failed ? ipf_error_memory(err) : 1;
}

static void make_rows(struct parquet *p)
{
	int got = 1;
	buffer_clear(&p->rows);
	p->given = p->row = 0;
	while (p->rows.len < AT_ONCE && (got = put_row(p, &p->failed)) == 1)
		p->row = p->rows.len;
	if (got < 0)
		ipf_error_place(&p->failed, p->name, 0);
}

int64_t parquet_read(struct parquet *p, char *to, size_t cap, struct ipf_error *err)
{
	if (p->given == p->row && !p->failed.kind)
		make_rows(p);
	size_t left = p->row - p->given, len = left < cap ? left : cap;
	if (left == 0 && p->failed.kind) {
		*err = p->failed;
		return -1;
	}
	if (len)
		memcpy(to, p->rows.data + p->given, len);
	p->given += len;
	return (int64_t)len;
}

int64_t parquet_position(const struct parquet *p)
{
	return p->footer.rows > p->rows_done ? (int64_t)((double)p->size * (double)p->rows_done / (double)p->footer.rows)
	                                     : p->size;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

/* Checks the letters at both ends of the file, and reads the footer. */
static int read_footer(struct parquet *p, struct ipf_error *err)
{
	struct page_memory *bytes = &p->footer_bytes;
	uint32_t len;
	if (p->size < 4 + TAIL)
		return ipf_error_set(err, IPF_CUT, "the Parquet file is cut: it has %lld bytes", (long long)p->size);
	if (page_file_read(&p->file, bytes, p->size - TAIL, TAIL, err) < 0)
		return -1;
	if (memcmp(bytes->bytes + 4, "PARE", 4) == 0)
		return ipf_error_set(err, IPF_INPUT, "the Parquet file is encrypted, which is not supported");
	if (memcmp(bytes->bytes + 4, "PAR1", 4) != 0)
		return ipf_error_set(err, IPF_CUT, "the Parquet file is cut: it does not end with PAR1");
	memcpy(&len, bytes->bytes, 4);
	len = le32toh(len);
	if (len > p->size - 4 - TAIL)
		return ipf_error_set(err, IPF_INPUT, "the footer of the Parquet file has %u bytes, more than the file", len);
	if (len > FOOTER_MAX)
		return ipf_error_set(err, IPF_INPUT, "the footer of the Parquet file has %u bytes; at most %zu MiB are read",
		                     len, FOOTER_MAX >> 20);
	p->file.end = p->size - TAIL - len;
	if (page_file_read(&p->file, bytes, p->file.end, len, err) < 0)
		return -1;
	return footer_parse(&p->footer, (struct slice){(const char *)bytes->bytes, len}, p->name, err);
}

int parquet_open(struct parquet **opened, int fd, int64_t size, const char *name, struct ipf_error *err)
{
	struct parquet *p = calloc(1, sizeof *p);
	int status = -1;
	if (!p || !(p->name = strdup(name))) {
		free(p);
		return ipf_error_memory(err);
	}
	p->file.fd = fd;
	p->size = size;
	p->row_max = stream_line_limit() ? stream_line_limit() : PARQUET_ROW_MAX;
	if (read_footer(p, err) < 0 || schema_tree_build(&p->tree, &p->footer, name, err) < 0)
		ipf_error_place(err, name, 0);
	else if (!(p->readers = calloc(p->tree.column_count, sizeof *p->readers)))
		ipf_error_memory(err);
	else
		status = 0;
	for (size_t i = 0; status == 0 && i < p->tree.column_count; i++) {
		p->readers[i].column = &p->tree.columns[i];
		p->readers[i].file = &p->file;
	}
	if (status == 0)
		*opened = p;
	else
		parquet_close(p);
	return status;
}

void parquet_close(struct parquet *p)
{
	if (!p)
		return;
	for (size_t i = 0; p->readers && i < p->tree.column_count; i++)
		column_reader_release(&p->readers[i]);
	free(p->readers);
	schema_tree_release(&p->tree);
	footer_release(&p->footer);
	page_memory_release(&p->file, &p->footer_bytes);
	page_file_release(&p->file);
	buffer_release(&p->rows);
	free(p->name);
	free(p);
}
