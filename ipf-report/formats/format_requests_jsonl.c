/* -f requests-jsonl: the rows of ipf-results(5), a line each, by stage and start. */
#include "cli/report_output.h"
#include "formats/report_format.h"
#include "results/row_lines.h"
#include "results/run_data.h"

/* The row as its results have it: {"part":1,…} if there are several. */
static void put_row(const struct report *report, const struct row *row, struct slice text, struct buffer *out)
{
	if (report->run->part_count > 1) {
		buffer_format(out, "{\"part\":%d,", row->part);
		text = (struct slice){text.data + 1, text.len - 1};
	}
	buffer_slice(out, text);
	buffer_byte(out, '\n');
}

static void render_requests_jsonl(const struct report *report, struct buffer *out)
{
	const struct run_data *run = report->run;
	for (int64_t i = 0; i < run->row_count && report_output_spill(report->output, out); i++) {
		struct result result;
		if (!run_data_line(run, &run->rows[i], &result))
			break;
		put_row(report, &run->rows[i], row_lines_text(run->lines), out);
	}
}

const struct report_format format_requests_jsonl = {.render = render_requests_jsonl, .lines = true, .requests = true};
