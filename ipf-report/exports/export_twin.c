/* -f twin: a model of the server, fitted to the events of the run, as ipf-twin(5) describes it. */
#include "formats/report_format.h"
#include "output/report_output.h"
#include "results/run_data.h"
#include "workload/trace_findings.h"
#include "twin/twin_check.h"
#include "twin/twin_make.h"

#include "version.h"

#include <stdlib.h>
#include <string.h>

/* The runs, so that a prediction can say what it rests on. */
static json_t *runs_json(const struct run_data *run)
{
	json_t *list = json_array();
	for (int i = 0; i < run->part_count; i++) {
		const struct run_part *part = &run->parts[i];
		const char *t0 = json_string_value(json_object_get(part->records, "t0"));
		const char *target = json_string_value(json_object_get(part->records, "target"));
		json_t *one = json_object();
		json_object_set_new(one, "name", json_string(part->name));
		if (t0)
			json_object_set_new(one, "t0", json_string(t0));
		if (target)
			json_object_set_new(one, "target", json_string(target));
		json_object_set(one, "digests", part->digests);
		json_array_append_new(list, one);
	}
	return list;
}

static int make_twin(const struct report *report, struct twin *twin, struct ipf_error *err)
{
	struct twin_data data;
	if (twin_check_run(report->run, report->finding, err) < 0 ||
	    twin_data_read(&data, report->run, report->trace->given ? &report->trace->workload : NULL, err) < 0)
		return -1;
	const int result = twin_make(twin, &data, err);
	twin_data_release(&data);
	return result;
}

static void render_twin(const struct report *report, struct buffer *out)
{
	struct twin twin;
	struct ipf_error *err = &report->output->err;
	if (make_twin(report, &twin, err) < 0) {
		if (err->kind == IPF_INPUT && report->run->part_count == 1)
			ipf_error_place(err, report->run->parts[0].name, 0);
		return;
	}
	json_t *json = json_pack("{s:s, s:i, s:s}", "ipf", "twin", "version", 1, "tool", "ipf-report " IPF_VERSION);
	twin.from = runs_json(report->run);
	if (report->run->groups[BY_MODEL].count == 1)
		twin.model = strdup(report->run->groups[BY_MODEL].list[0]);
	char *text = twin_to_json(&twin, json) == 0 ? json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(7)) : NULL;
	if (text) {
		buffer_text(out, text);
		buffer_text(out, "\n");
	} else {
		ipf_error_memory(err);
	}
	free(text);
	json_decref(json);
	twin_release(&twin);
}

const struct report_format format_twin = {
	.render = render_twin, .lines = true, .requests = true, .times = true, .schedules = true};
