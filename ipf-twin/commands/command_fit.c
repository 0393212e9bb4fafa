/* `ipf-twin fit RESULTS…`: a model of the server, as ipf-twin(1) describes it. */
#include "commands/command.h"
#include "commands/read_run.h"
#include "fit/twin_check.h"
#include "fit/twin_make.h"

#include <string.h>

static const struct option_spec specs[] = {READ_ROWS};

static int fit(struct measured_run *m, const struct read_options *options, struct ipf_error *err)
{
	struct twin_data data;
	struct twin twin;
	const struct verdict_finding *finding = verdict_judge(m->run.verdict);
	if (!finding)
		return ipf_error_memory(err);
	if (twin_check_run(&m->run, finding, err) < 0 || twin_data_read(&data, &m->run, measured_run_workload(m), err) < 0)
		return -1;
	int result = twin_make(&twin, &data, err);
	twin_data_release(&data);
	if (result < 0)
		return -1;
	json_t *json = json_object();
	twin.from = measured_run_parts(m);
	if (m->run.groups[BY_MODEL].count == 1)
		twin.model = strdup(m->run.groups[BY_MODEL].list[0]);
	result = twin_to_json(&twin, json) < 0 ? ipf_error_memory(err) : 0;
	twin_release(&twin);
	if (result == 0)
		return write_document("twin", json, 7, options->common.output, err);
	json_decref(json);
	return -1;
}

static int run(int argc, char **argv)
{
	struct read_options options = READ_OPTIONS_DEFAULTS;
	struct measured_run m = {.lines = true, .run.any_schedules = true};
	struct operands operands;
	struct ipf_error err = {0};
	int status;
	if (!program_start(&command_fit.program, argc, argv, &options, &operands, &status))
		return status;
	if (measured_run_read(&m, &options, &operands, &err) == 0 && fit(&m, &options, &err) < 0 && err.kind == IPF_INPUT &&
	    m.run.part_count == 1)
		ipf_error_place(&err, m.run.parts[0].name, 0);
	status = end_command(&command_fit.program, &m, &err);
	measured_run_release(&m);
	return status;
}

const struct command command_fit = {
	.program = {.name = "ipf-twin fit",
                .operands = "[RESULTS…]",
                .summary = "fit a model of a server to the results of a run",
                .details = "The results need the times of all events: ipf-collect --events.\n"
                           "\n"
                           "  ipf-twin fit ramp.results.zst -o server.json\n",
                .manual = "man ipf-twin; overview: man ipf",
                .specs = specs,
                .count = sizeof specs / sizeof *specs,
                .max_operands = -1,
                .variables = "ipf-twin"},
	.run = run,
};
