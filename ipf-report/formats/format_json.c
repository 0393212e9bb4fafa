/* -f json: the object ipf-report-json(5) describes. An absent figure is omitted. */
#include "formats/report_format.h"
#include "json_report/json_report.h"
#include "cli/report_output.h"

static int append(const char *bytes, size_t len, void *out)
{
	buffer_append(out, bytes, len);
	return 0;
}

static void render_json(const struct report *report, struct buffer *out)
{
	json_t *json = report_json(report);
	if (json_dump_callback(json, append, out, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) < 0)
		out->failed = true;
	buffer_byte(out, '\n');
	json_decref(json);
}

const struct report_format format_json = {
	.render = render_json, .predicted = true, .groups = true, .all_groups = true, .plots = true};
