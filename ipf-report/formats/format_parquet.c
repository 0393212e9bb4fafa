/* -f parquet: a table of the run as a Parquet file. */
#include "formats/report_format.h"
#include "formats/table_output.h"

#include "absent.h"
#include "cli/report_output.h"
#include "json/json_put.h"
#include "version.h"

#include <stdlib.h>

#define TABLE_NAME(name_)     #name_,
#define TABLE_FUNCTION(name_) table_##name_,

const char *const parquet_table_names[] = {TABLES(TABLE_NAME) NULL};
static void (*const tables[])(struct table_output *t) = {TABLES(TABLE_FUNCTION)};

bool table_begin(struct table_output *t, const struct parquet_column *columns, size_t count)
{
	t->w = parquet_writer_new(columns, count, t->out);
	t->out->failed |= !t->w;
	return t->w;
}

bool table_request(struct table_output *t, int64_t number, struct request *request)
{
	const struct run_data *run = t->report->run;
	if (t->stopped || number >= run->row_count)
		return false;
	request->row = &run->rows[number];
	return run_data_line(run, request->row, &request->result);
}

void table_integer(struct table_output *t, size_t column, int64_t value)
{
	if (value != IPF_ABSENT)
		parquet_writer_integer(t->w, column, value);
}

int64_t table_time(const struct table_output *t, int part, int64_t time_ns)
{
	const struct run_data *run = t->report->run;
	if (time_ns == IPF_ABSENT || __builtin_add_overflow(time_ns, run->shards ? run->parts[part].shift_ns : 0, &time_ns))
		return IPF_ABSENT;
	return time_ns;
}

void table_date(struct table_output *t, int part, int64_t time_ns)
{
	int64_t t0_ns = t->report->reproducible ? IPF_ABSENT : t->report->run->parts[part].t0_ns, date_ns;
	if (t0_ns != IPF_ABSENT && time_ns != IPF_ABSENT && !__builtin_add_overflow(t0_ns, time_ns, &date_ns))
		parquet_writer_integer(t->w, TABLE_UTC, date_ns);
}

void table_end_row(struct table_output *t)
{
	if (t->run.data)
		parquet_writer_text(t->w, TABLE_RUN, t->run);
	parquet_writer_end_row(t->w);
	t->stopped = !report_output_spill(t->report->output, t->out);
}

/* The note of the file: where it came from, as the JSON report says it. */
static void end_file(struct table_output *t, const char *table)
{
	json_t *json = json_object();
	json_put_text(json, "ipf", "parquet");
	json_put_count(json, "version", 1);
	json_put_text(json, "tool", "ipf-report " IPF_VERSION);
	json_put_text(json, "table", table);
	json_object_set(json, "run", t->report->run_info);
	char *text = json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(15));
	const struct parquet_note note = {"ipf", slice_of(text)};
	parquet_writer_end(t->w, &note, 1);
	t->out->failed |= !text;
	free(text);
	json_decref(json);
}

static void render_parquet(const struct report *report, struct buffer *out)
{
	struct table_output t = {
		.report = report, .out = out, .run = slice_of(json_string_value(json_object_get(report->run_info, "digest")))};
	tables[report->table](&t);
	if (t.w)
		end_file(&t, parquet_table_names[report->table]);
	parquet_writer_free(t.w);
}

const struct report_format format_parquet = {.render = render_parquet, .lines = true, .requests = true, .binary = true};
