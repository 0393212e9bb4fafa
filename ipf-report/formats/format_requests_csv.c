/* -f requests-csv: a line for each request, by stage and start. */
#include "formats/csv_writer.h"
#include "formats/report_format.h"
#include "formats/request_columns.h"
#include "cli/report_output.h"

struct request_lines {
	struct csv_writer csv;
	const struct report *report;
	struct request_columns columns;
	struct request_cells cells;
};

/* `request` NULL: the line of names. */
static void put_line(struct request_lines *lines, const struct request *request)
{
	struct csv_writer *csv = &lines->csv;
	const char *key;
	json_t *value;
	char name[80];
	for (size_t i = 0; i < lines->columns.count; i++) {
		const struct request_column *c = &lines->columns.list[i];
		struct request_value v = {0};
		if (request)
			v = request_cell(&lines->cells, lines->report->run, request, c);
		if (v.type == REQUEST_INTEGER)
			csv_count(csv, c->name, v.integer);
		else if (v.type == REQUEST_BOOLEAN)
			csv_text(csv, c->name, slice_of(v.boolean ? "true" : "false"));
		else
			csv_text(csv, c->name, v.text);
	}
	json_object_foreach(json_object_get(lines->report->run_info, "meta"), key, value)
	{
		snprintf(name, sizeof name, "meta_%s", key);
		csv_text(csv, name, slice_of(json_string_value(value)));
	}
	csv_line_end(csv);
}

static void render_requests_csv(const struct report *report, struct buffer *out)
{
	struct request_lines lines = {.csv = {.out = out, .header = true}, .report = report};
	const struct run_data *run = report->run;
	request_columns_init(&lines.columns, REQUEST_CELLS);
	put_line(&lines, NULL);
	for (int64_t i = 0; i < run->row_count && report_output_spill(report->output, out); i++) {
		struct request request = {.row = &run->rows[i]};
		if (!run_data_line(run, request.row, &request.result))
			break;
		put_line(&lines, &request);
	}
	out->failed |= lines.cells.text.failed;
	request_cells_release(&lines.cells);
}

const struct report_format format_requests_csv = {.render = render_requests_csv, .lines = true, .requests = true};
