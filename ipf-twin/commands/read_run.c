#include "commands/read_run.h"

#include "cli/report_output.h"
#include "imports/import_operands.h"
#include "memory.h"
#include "results/merge_parts.h"
#include "version.h"

#include <stdio.h>
#include <stdlib.h>

int measured_run_read(struct measured_run *m, const struct read_options *options, const struct operands *operands,
                      struct ipf_error *err)
{
	const struct import_options about = {.program = "ipf-twin", .common = &options->common, .from = options->from};
	m->run.only_stage = options->stage;
	m->run.columns.with_req = options->trace != NULL;
	if (run_data_init(&m->run, &m->slo, err) < 0 || (m->lines && run_data_keep_lines(&m->run, err) < 0) ||
	    import_operands(&m->run, &about, operands, &m->bad, err) < 0 || merge_parts(&m->run, err) < 0)
		return -1;
	if (!options->trace)
		return 0;
	m->has_trace = true;
	return workload_read(&m->workload, options->trace, &m->run, err);
}

const struct workload *measured_run_workload(const struct measured_run *m)
{
	return m->has_trace ? &m->workload : NULL;
}

void measured_run_release(struct measured_run *m)
{
	workload_release(&m->workload);
	run_data_release(&m->run);
}

json_t *measured_run_parts(const struct measured_run *m)
{
	json_t *list = json_array();
	for (int i = 0; i < m->run.part_count; i++) {
		const struct run_part *part = &m->run.parts[i];
		json_t *one = json_object();
		json_object_set_new(one, "name", json_string(part->name));
		json_object_set(one, "t0", json_object_get(part->records, "t0"));
		json_object_set(one, "target", json_object_get(part->records, "target"));
		json_object_set(one, "digests", part->digests);
		json_array_append_new(list, one);
	}
	return list;
}

int write_document(const char *kind, json_t *json, int digits, const char *output, struct ipf_error *err)
{
	struct report_output to = {.path = output};
	struct buffer out = {0};
	json_t *whole = json_pack("{s:s, s:i, s:s}", "ipf", kind, "version", 1, "tool", "ipf-twin " IPF_VERSION);
	char *text = whole && json && json_object_update(whole, json) == 0
	                 ? json_dumps(whole, JSON_INDENT(2) | JSON_REAL_PRECISION((size_t)digits))
	                 : NULL;
	buffer_format(&out, "%s\n", text ? text : "");
	if (!text || out.failed)
		ipf_error_memory(err);
	else
		report_output_put(&to, &out, err);
	report_output_close(&to, err);
	buffer_release(&out);
	free(text);
	json_decref(whole);
	json_decref(json);
	return err->kind ? -1 : 0;
}

int end_command(const struct program *program, const struct measured_run *m, struct ipf_error *err)
{
	if (err->kind == IPF_OK)
		*err = m->bad;
	if (err->kind == IPF_OK && memory_ran_out())
		ipf_error_memory(err);
	return ipf_error_report(err, stderr, err->kind == IPF_USAGE ? program->name : "ipf-twin");
}
