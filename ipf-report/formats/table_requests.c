/* The table `requests`: a row for each request, with all members of its row in the results but the lists of its events.
 */
#include "formats/table_output.h"

#define COLUMNS_MAX (TABLE_COLUMNS + sizeof((struct request_columns *)0)->list / sizeof(struct request_column))

struct request_table {
	struct table_output *t;
	struct request_columns columns;
	struct request_cells cells;
	struct jdoc list;
};

static void put_integers(struct request_table *r, size_t column, const struct request_value *v)
{
	struct ipf_error ignored = {0};
	int64_t value = 0;
	if (jdoc_parse(&r->list, v->text.data, v->text.len, &ignored) < 0)
		return;
	parquet_writer_list(r->t->w, column, jdoc_count(&r->list, JDOC_ROOT));
	for (struct jdoc_each e = jdoc_each(&r->list, JDOC_ROOT); jdoc_step(&e);) {
		jdoc_to_int(&r->list, e.value, &value); /* it is one: the field is a list of integers */
		parquet_writer_integer(r->t->w, column, value + v->integer);
	}
}

static void put_cell(struct request_table *r, size_t column, const struct request_value *v)
{
	switch (v->type) {
	case REQUEST_ABSENT:
		break;
	case REQUEST_INTEGER:
		parquet_writer_integer(r->t->w, column, v->integer);
		break;
	case REQUEST_BOOLEAN:
		parquet_writer_boolean(r->t->w, column, v->boolean);
		break;
	case REQUEST_TEXT:
	case REQUEST_JSON:
		parquet_writer_text(r->t->w, column, v->text);
		break;
	case REQUEST_INTEGERS:
		put_integers(r, column, v);
		break;
	}
}

static bool begin(struct request_table *r)
{
	static const enum parquet_kind kinds[] = {[REQUEST_INTEGER] = PARQUET_INTEGER,
	                                          [REQUEST_BOOLEAN] = PARQUET_BOOLEAN,
	                                          [REQUEST_TEXT] = PARQUET_TEXT,
	                                          [REQUEST_JSON] = PARQUET_JSON,
	                                          [REQUEST_INTEGERS] = PARQUET_INTEGER};
	struct parquet_column columns[COLUMNS_MAX] = {TABLE_FIRST_COLUMNS("number")};
	request_columns_init(&r->columns, REQUEST_WHOLE);
	for (size_t i = 0; i < r->columns.count; i++) {
		const struct request_column *c = &r->columns.list[i];
		columns[TABLE_COLUMNS + i] = (struct parquet_column){
			.name = c->name, .kind = kinds[c->type], .list = c->type == REQUEST_INTEGERS};
	}
	return table_begin(r->t, columns, TABLE_COLUMNS + r->columns.count);
}

void table_requests(struct table_output *t)
{
	struct request_table r = {.t = t};
	struct request request;
	if (!begin(&r))
		return;
	for (int64_t n = 0; table_request(t, n, &request); n++) {
		parquet_writer_integer(t->w, TABLE_NUMBER, n);
		table_date(t, request.row->part, request.result.start_ns);
		for (size_t i = 0; i < r.columns.count; i++) {
			struct request_value v = request_cell(&r.cells, t->report->run, &request, &r.columns.list[i]);
			put_cell(&r, TABLE_COLUMNS + i, &v);
		}
		table_end_row(t);
	}
	t->out->failed |= r.cells.text.failed;
	request_cells_release(&r.cells);
	jdoc_release(&r.list);
}
