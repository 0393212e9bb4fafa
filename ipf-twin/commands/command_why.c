/* `ipf-twin why TWIN RESULTS…`: breaks down the latency of typical and of the slowest requests, for ipf-report --why.
 */
#include "commands/command.h"
#include "commands/read_run.h"
#include "why/why_json.h"

#include <string.h>

static const struct option_spec specs[] = {READ_ROWS};

static int explain(struct measured_run *m, const struct twin *twin, const char *path, const char *output,
                   struct ipf_error *err)
{
	const char *slash = strrchr(path, '/');
	struct why_findings found = {.twin = slash ? slash + 1 : path};
	int result = why_findings_build(&found, twin, &m->run, measured_run_workload(m), err);
	if (result == 0)
		result = write_document(
			"why", json_pack("{s:o, s:o}", "from", measured_run_parts(m), "why", why_json(&found, &m->run)), 15, output,
			err);
	why_findings_release(&found);
	return result;
}

static int run(int argc, char **argv)
{
	struct read_options options = READ_OPTIONS_DEFAULTS;
	struct measured_run m = {0};
	struct operands operands;
	struct twin twin;
	struct ipf_error err = {0};
	int status;
	if (!program_start(&command_why.program, argc, argv, &options, &operands, &status))
		return status;
	const char *path = operands.items[0];
	const struct operands results = {.items = operands.items + 1, .count = operands.count - 1, .before_mark = -1};
	if (twin_read(&twin, path, &err) == 0) {
		if (measured_run_read(&m, &options, &results, &err) == 0)
			explain(&m, &twin, path, options.common.output, &err);
		twin_release(&twin);
	}
	status = end_command(&command_why.program, &m, &err);
	measured_run_release(&m);
	return status;
}

const struct command command_why = {
	.program = {.name = "ipf-twin why",
                .operands = "TWIN [RESULTS…]",
                .summary = "break down the latency of typical and of the slowest requests",
                .details = "ipf-report shows the result:\n"
                           "\n"
                           "  ipf-twin why server.json run.results.zst -o run.why.json\n"
                           "  ipf-report --why run.why.json run.results.zst\n",
                .manual = "man ipf-twin; overview: man ipf",
                .specs = specs,
                .count = sizeof specs / sizeof *specs,
                .min_operands = 1,
                .max_operands = -1,
                .variables = "ipf-twin"},
	.run = run,
};
